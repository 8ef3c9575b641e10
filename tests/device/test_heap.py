"""What a model takes of a Pico's heap beyond its arena."""

import pytest

from tests.device.networks import NETWORKS
from tests.host.device import small
from tools.converter.convert import convert
from tools.deploy.code import code_for
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package

MOST = 24 * 1024  # bytes, with garbage but without code
MOST_OF_CODE = 28 * 1024  # bytes: modules in a file system, once the model is loaded


def test_keywords(machine, tmp_path):
    if machine.name != "rp2040":
        pytest.skip("another heap, or one of unknown size")
    path = tmp_path / "model.bin"
    path.write_bytes(convert(NETWORKS["mlperf kws int8"]().model).data)
    code = code_for(read_model(path), Package(), machine.kind)
    files = {f.path: f.data for f in code} | {"model.bin": path.read_bytes()}
    printed = machine.run((small.SCRIPTS / "heap.py").read_text(), files)
    [of_code], streamed, in_place = ([int(n) for n in s.split()] for s in printed.splitlines())
    print(f"arena, peak and kept beyond it: streamed {streamed}, in place {in_place}")
    print(f"code {of_code}")
    for arena, peak, kept in (streamed, in_place):
        assert 0 < kept <= peak <= MOST, f"{peak} and {kept} bytes beyond the arena's {arena}"
    assert in_place[0] < streamed[0]
    assert 20_000 < of_code <= MOST_OF_CODE
