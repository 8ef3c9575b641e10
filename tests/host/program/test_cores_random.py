"""Random layers for two cores give the bytes of the kernels."""

import pytest

from tests.host.program import programs
from tests.host.program.test_cores import LONG, check
from tests.host.random_layers import KINDS, MORE_KINDS, layer
from tools.converter.convert import Options, convert
from tools.program import cores
from tools.program.bundle import has_form

# Seeds of each kind that are cut: in waves, with smaller pieces, with an output that is written
# beside the arena (conv 16, depthwise 6, gemm 2, conv_transpose 1).
FEW = {"conv": (2, 4, 16), "depthwise": (4, 6), "gemm": (2, 4), "conv_transpose": (1,)}
FEW |= dict.fromkeys(("pool", "elementwise", "steps"), (0,))
FEW |= {"resize": (1,), "floats": (4,), "moves": (5,)}
PORTION = 20  # layers in a run of a target
# Of 100 layers of a kind, how many are cut at least.
LEAST = {"conv": 70, "depthwise": 70, "wide_conv": 10, "gemm": 75, "pool": 30, "elementwise": 90}
LEAST |= {"conv_transpose": 60, "resize": 40, "floats": 90, "moves": 35, "steps": 60}


def cut(kind, seeds, target):
    """Return those of the layers that are cut, as test_cores.check takes them."""
    machine, result = programs.machine_of(target), {}
    for seed in seeds:
        model, inputs = layer(kind, seed)
        data = convert(model, Options(strip=True)).data
        if cores.record_pair(data, lambda *form: has_form(machine, *form)):
            result[f"{kind}{seed}"] = data, [inputs], 2
    return result


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_some_layers_give_the_same_bytes(target):
    models = {k: v for kind, seeds in FEW.items() for k, v in cut(kind, seeds, target).items()}
    assert len(models) == sum(map(len, FEW.values()))
    check(target, models)


@pytest.mark.skipif(not LONG, reason="takes minutes: MPCONNXR_LONG=1 runs it")
@pytest.mark.parametrize("kind", [*KINDS, *MORE_KINDS])
@pytest.mark.parametrize("target", ["unix", "unix32", "unix-plain"], indirect=True)
def test_many_layers_give_the_same_bytes(target, kind):
    n = 0
    for first in range(0, 100, PORTION):
        models = cut(kind, range(first, first + PORTION), target)
        n += len(models)
        if models:
            check(target, models)
    print(f"{kind}: {n} of 100 are cut")
    assert n >= LEAST[kind]
