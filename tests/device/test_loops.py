"""Every loop gives the bits of its plain form on every machine, in the form that flash.py sends.

The calls are those of tests/device/calls/, random; tests/host/device/test_loop_forms.py makes more
of them, in all forms at once, where that is quick.
"""

from types import SimpleNamespace

import pytest

from tests.host.device.test_loop_forms import CALLS, SCRIPT, data, digests, families
from tools.deploy.code import code_for
from tools.deploy.compile import compiled
from tools.deploy.modules import Package

N_CALLS = {"rp2040": 2}  # of each loop; the emulator is the slowest of them all
N_CALLS_USUAL = 20
A_PROCESS = 12  # families, whose code and data fit the heap of the smallest machine together


def parts():
    names = list(families())
    return [names[i : i + A_PROCESS] for i in range(0, len(names), A_PROCESS)]


def code(names, kind, folder):
    """The families, each in the one form that suits the machine, as files."""
    takes = [f"    forms.get({name!r})\n" for name in names]
    source = ["from .. import forms\n\ndef prepare(node):\n", *takes]
    (folder / "every_loop.py").write_text("".join(source))
    model = SimpleNamespace(kernels=["every_loop"], optional=(), weights=())
    files = code_for(model, Package(own=folder), kind)
    return {f.path: f.data for f in files}


@pytest.mark.parametrize("names", parts(), ids=lambda names: names[0])
def test_bits(machine, names, ready_target, tmp_path):
    n = N_CALLS.get(machine.name, N_CALLS_USUAL)
    files = code(names, machine.kind, tmp_path) | {"data": data()}
    for path in CALLS.glob("*.py"):
        files[f"calls/{path.stem}.mpy"] = compiled(path.read_text(), path.name)
    arguments = ["script", str(n), *names]
    printed = machine.run(
        f"import sys\nsys.argv[:] = {arguments!r}\n{SCRIPT.read_text()}", files
    ).splitlines()
    assert not [line for line in printed if line.startswith("differs")]
    found = {tuple(line.split()[:2]): line.split()[3] for line in printed}
    assert found == digests(ready_target("unix-plain"), names, n)
