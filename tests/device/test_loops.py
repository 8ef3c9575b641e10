"""Every loop gives the bits of its plain form on every machine, in the form that flash.py sends.

The calls are random, those of tools.check.loops; tests/host/device/test_loop_forms.py makes more
of them, in all forms at once, where that is quick.
"""

import pytest

from tests.host.device.test_loop_forms import plain_digests
from tools.check import loops

N_CALLS = {"rp2040": 2}  # of each loop; the emulator is the slowest of them all
N_CALLS_USUAL = 20


@pytest.mark.slow
@pytest.mark.parametrize("names", loops.parts(), ids=lambda names: names[0])
def test_loops_give_the_bits_of_their_plain_form(machine, names, ready_target):
    n = N_CALLS.get(machine.name, N_CALLS_USUAL)
    files = loops.files_for(names, n, machine.kind)
    arguments = ["script", str(n), *names]
    script = f"import sys\nsys.argv[:] = {arguments!r}\n{loops.SCRIPT.read_text()}"
    results = list(loops.parsed(machine.run(script, files).splitlines()))
    assert all(loop.digest for loop in results)
    expected = plain_digests(ready_target("unix-plain"), tuple(names), n)
    assert {loop.key: loop.digest for loop in results} == expected
