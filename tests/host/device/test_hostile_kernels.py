"""Every kernel withstands damaged parameters.

For each kernel of the device the smallest files in which ONNX's node tests use it are damaged word
by word: see test_hostile.py for what must hold then.
"""

import pytest

from tests.host.device import cases, small
from tools.micropython import UNIX_TARGETS

FILES = 2  # a kernel, so that parameters which one case leaves at 0 or 1 have a chance


@pytest.mark.slow
@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_every_kernel(target):
    kernels = cases.smallest(FILES)
    assert {"conv", "gemm", "max_pool", "move", "relu"} <= set(kernels)
    failures = []
    for kernel, files in sorted(kernels.items()):
        for i, data in enumerate(files):
            for mode, amount in (("words", "1"), ("several", "300")):
                report = small.damage(target, data, mode, amount)
                if not report.ok:
                    failures.append(f"{kernel}, file {i}, {mode}: {report}")
    assert not failures, "\n".join(failures)
