"""Random layers for two cores give the bytes of the kernels."""

import pytest

from tests.host.program import programs
from tests.host.program.test_cores import LONG, check
from tests.host.random_layers import KINDS, layer
from tools.converter.convert import Options, convert
from tools.program import cores
from tools.program.bundle import has_form

# Seeds of each kind that are cut, in waves or with smaller pieces. The smaller pieces of conv 16
# would read what they wrote.
FEW = {"conv": (2, 4, 16), "depthwise": (4,), "gemm": (4, 5), "pool": (0,), "elementwise": (0,)}
TARGETS = ("unix", "unix32", "unix-plain") if LONG else ("unix32",)


def is_cut(data, target):
    machine = programs.machine_of(target)
    return cores.record_pair(data, lambda *form: has_form(machine, *form)) is not None


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_layers(target):
    models = {}
    for kind in KINDS:
        for seed in range(100) if LONG else FEW.get(kind, ()):
            model, inputs = layer(kind, seed)
            data = convert(model, Options(strip=True)).data
            if is_cut(data, target):
                models[f"{kind}{seed}"] = data, [inputs], 2
    assert len(models) >= (180 if LONG else 7)
    check(target, models)
