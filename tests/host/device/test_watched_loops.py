"""No loop touches anything but its buffers, in any form: see tests.watch.

Random calls; one board has all forms for Arm. MPCONNXR_LONG=1: on more boards, 200 of each loop.
"""

import pytest

from tests.host.device.test_loop_forms import LONG, SCRIPT, data, families, loops_of
from tests.host.loop_calls import cut_calls
from tests.watch import watched
from tools import package
from tools.check.loops import CALLS, calls_for

PACKAGE = package.folder()

BOARDS = ("mps2-an505", "virt-rv32")
BOARDS += ("mps2-an385", "mps2-an385-v6m", "mps2-an386", "sim-de212") if LONG else ()
N_CALLS = 200 if LONG else 1
A_PROCESS = 24  # families whose code has room in a board's heap
N_CUT = 40 if LONG else 4  # calls whose data are source, so of fewer families
A_CUT = 8
OF_OTHERS = {name for name in families() if not loops_of(name)}  # without calls of their own


@pytest.mark.slow
@pytest.mark.parametrize("name", BOARDS)
def test_loops_stay_in_their_buffers(name, ready_target):
    board, names = watched(ready_target(name)), list(families())
    files = {"mpconnxr": PACKAGE, "data": data()} | calls_for(names, N_CALLS)
    for first in range(0, len(names), A_PROCESS):
        arguments = (str(N_CALLS), *names[first : first + A_PROCESS])
        completed = board.run(SCRIPT, files=files, args=arguments, timeout=3600)
        assert not completed.stderr and "differs" not in completed.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", BOARDS)
def test_loops_stay_in_their_declared_ranges(name, ready_target):
    """In all forms, each buffer ends where tools.access says."""
    board, names = watched(ready_target(name)), list(families())
    files = {"mpconnxr": PACKAGE, "data": data(), "calls/draw.py": CALLS / "draw.py"}
    for first in range(0, len(names), A_CUT):
        some = names[first : first + A_CUT]
        made = {f"calls/{family}.py": cut_calls(family, N_CUT).encode() for family in some}
        completed = board.run(SCRIPT, files=files | made, args=(str(N_CUT), *some), timeout=3600)
        assert not completed.stderr and "differs" not in completed.stdout
        lines = [line.split()[0] for line in completed.stdout.splitlines()]
        assert set(lines) == set(some) - OF_OTHERS
