"""Other tasks get their turns while a model runs on a board."""

import pytest

from tests.device.networks import NETWORKS
from tests.host.device import small
from tools.converter.convert import convert
from tools.deploy.code import code_for
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.micropython import target_names

SLICE_US = 5000


@pytest.mark.slow
def test_other_tasks_get_their_turns_during_a_run(machine):
    """Each turn comes within twice the slice, as docs/api.md says."""
    if machine.name != "rp2040" and machine.name in target_names():
        pytest.skip("firmware without asyncio or without a clock")
    data = convert(NETWORKS["mlperf kws int8"]().model).data
    code = code_for(parse_model("model.bin", data), Package(), machine.kind)
    files = {f.path: f.data for f in code} | {"model.bin": data}
    printed = machine.run((small.SCRIPTS / "other_tasks.py").read_text(), files).split()
    same, turns, longest, us = printed[0] == "True", *map(int, printed[1:])
    assert same and turns >= us // (2 * SLICE_US)
    assert 0 < longest <= 2 * SLICE_US
    print(f"{turns} turns in {us} us, the longest wait {longest} us")
