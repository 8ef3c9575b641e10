"""Everything a model or a view of an output reads stays alive on a board: see lifetimes.py."""

import pytest

from tests.host.device import small
from tests.host.program.test_lifetimes import KNOBS, files_of, network
from tests.host.program.test_models import LONG
from tools.converter.convert import convert
from tools.deploy.code import code_for
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.program.build import build

SCRIPT = (small.SCRIPTS / "lifetimes.py").read_text()
ROOM = 0x98000  # between the firmware of a Pico and its file system


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["program", "kernels"] if LONG else ["program"])
def test_objects_that_a_model_reads_stay_alive(machine, mode):
    if machine.name != "rp2040":
        pytest.skip("32-bit words and a Pico's heap and flash are what differs from unix32")
    data = convert(network()).data
    if mode == "kernels":
        code = code_for(parse_model("m", data), Package(), machine.kind)
        files = {f.path: f.data for f in code}
    else:
        files = build(data, machine.kind, stream=False).files
    knobs = f"KINDS, PREFER, ALL, RESERVED = ({mode!r},), (), False, {ROOM}\nSIZES = 128, 2048\n"
    before, _, rest = SCRIPT.partition(KNOBS)
    script = before + knobs + rest.partition("\n")[2]
    printed = machine.run(script, files | files_of(data)).splitlines()
    assert printed == ["end"], "\n".join(printed)
