"""Damaged models cause no stray access on watched boards in QEMU.

MPCONNXR_LONG=1: 2,000 of each model on each board. `python -m tests.fuzz model` has all kernels.
"""

import os
import shutil
from random import Random

import pytest

from tests.fuzz import batch
from tests.host.device import small
from tools import package

PACKAGE = package.folder()

BOARDS = ("mps2-an385", "mps2-an385-v6m", "mps2-an386", "mps2-an505", "virt-rv32", "sim-de212")
LONG = os.environ.get("MPCONNXR_LONG") == "1"
N_CASES = 2000 if LONG else 40
A_BATCH = 200

# Of a loop that every run of the model calls: past the end of x (read) and of out (written).
PLANTED = {
    "read": ("v = x[i]", "v = x[i + 1]"),
    "write": ("out[i] = v", "out[i + 1] = v"),
}


def letters_and_faults(target, data, n, seed):
    cases = batch.make_cases(data, n, Random(seed))
    ended = batch.run(target, data, cases, timeout=1800)
    assert not ended.seed_fault
    return ended.letters, ended.faults


@pytest.mark.slow
@pytest.mark.parametrize("name", BOARDS)
def test_damaged_models_do_no_harm(name, ready_target):
    ready_target(name)
    for make in small.mixed, small.moving:
        data, ended = small.binary(make()), ""
        for first in range(0, N_CASES, A_BATCH):
            n = min(A_BATCH, N_CASES - first)
            letters, faults = letters_and_faults(batch.target_of(name), data, n, first)
            assert not faults
            ended += letters
        assert len(ended) == N_CASES and {"R", "L"} <= set(ended)


@pytest.mark.parametrize("kind", PLANTED)
@pytest.mark.parametrize("name", BOARDS)
def test_a_kernel_that_strays_is_found(name, kind, ready_target, tmp_path):
    ready_target(name)
    package = tmp_path / "mpconnxr"
    shutil.copytree(PACKAGE, package)
    loop = package / "loops" / "relu.py"
    loop.write_text(loop.read_text().replace(*PLANTED[kind]))
    for form in package.glob("loops/*/relu.py"):
        form.unlink()
    data = small.binary(small.relu())
    case = batch.Case(data, (), batch.IN_MEMORY, 0, 1, 0)
    ended = batch.run(batch.target_of(name), b"", [case], code=package)
    (fault,) = ended.faults
    assert fault.kind == "stray" and fault.what.startswith(f"{kind} of 4 bytes")
    assert " by relu.relu32 + " in fault.what
