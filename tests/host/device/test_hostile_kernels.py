"""Every kernel withstands damaged parameters.

For each kernel of the device the smallest files in which ONNX's node tests use it are damaged word
by word and in several words at once, each file on one target in turn: see test_hostile.py for what
must hold then. MPCONNXR_LONG=1: on each target.
"""

import os

import pytest

from tests.host.device import cases, small
from tools.micropython import UNIX_TARGETS

LONG = os.environ.get("MPCONNXR_LONG") == "1"
FILES = 2  # a kernel, so that parameters which one case leaves at 0 or 1 have a chance


@pytest.mark.slow
@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_every_kernel_withstands_damaged_parameters(target):
    kernels = cases.smallest(FILES)
    assert {"conv", "gemm", "max_pool", "move", "relu"} <= set(kernels)
    place = UNIX_TARGETS.index(target.name)
    failures = []
    for number, (kernel, files) in enumerate(sorted(kernels.items())):
        for i, data in enumerate(files):
            if not LONG and (number + i) % len(UNIX_TARGETS) != place:
                continue
            for mode, amount in (("several", "300"), ("words", "1")):
                report = small.damage(target, data, mode, amount)
                if not report.ok:
                    failures.append(f"{kernel}, file {i}, {mode}: {report}")
    assert not failures, "\n".join(failures)
