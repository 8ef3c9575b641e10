"""An allocation that fails in load or run raises a typed error, and the next load works.

See tests/device/memory_errors.py. Some allocations of each kernel's; all of them with
MPCONNXR_LONG=1.
"""

import os
import zlib

import pytest

from tests.fuzz import seeds
from tests.host.device import small
from tools.micropython import GUARD_TARGETS

SCRIPT = small.SCRIPTS / "memory_errors.py"
HEAP = 8 << 20
LONG = bool(os.environ.get("MPCONNXR_LONG"))
# How many allocations fail, one a process: where modules are compiled it takes longer.
TRIED = {"warm": 10**9, "cold": 200} if LONG else {"warm": 10, "cold": 3}


def run(target, data, mode, *numbers):
    args = [mode, *map(str, numbers)]
    return small.run(target, SCRIPT, {"model.bin": data}, args, timeout=3000, heap=HEAP)


@pytest.fixture(scope="module")
def collection():
    return seeds.collection()


def chosen(target, some, mode):
    """Return a seed and its number of allocations.

    One that runs with the script's inputs is preferred to one that refuses them.
    """
    for seed in [*some, some[0]]:
        _, n, end = run(target, seed.data, mode, 1, 1, 0).split()
        if end == "ran":
            break
    return seed, int(n)


@pytest.mark.slow
@pytest.mark.parametrize("target", GUARD_TARGETS[:2], indirect=True)
@pytest.mark.parametrize("mode", TRIED)
@pytest.mark.parametrize("kernel", seeds.kernels())
def test_a_failing_allocation_raises_a_typed_error(target, collection, kernel, mode):
    seed, n = chosen(target, collection[kernel], mode)
    stride = max(1, n // TRIED[mode])
    first = 1 + zlib.crc32(kernel.encode()) % stride
    *bad, last = run(target, seed.data, mode, first, stride, n).splitlines()
    assert not bad and int(last.split()[1]) == len(range(first, n + 1, stride)), bad[:5]
