"""Requantization agrees with exact fractions: random scales, sums at rounding ties."""

import os
from array import array
from fractions import Fraction

import numpy as np
import pytest

from tests.host.device import small
from tools import package
from tools.converter.ops._qweights import table
from tools.converter.ops._requantize import Sums, channel_multipliers

PACKAGE = package.folder()
LONG = os.environ.get("MPCONNXR_LONG") == "1"
N = 1000  # sums a call; of each scale N_OF_ONE
N_OF_ONE = 50
CALLS = {"unix": 200, "unix32": 200}  # on an emulated core: 8
MORE = 50 if LONG else 1
BIAS = 1 << 29
TARGETS = ["unix", "unix32", "mps2-an385", "mps2-an385-v6m", "mps2-an386", "virt-rv32"]

# Sums lie in the constants of channels: all weights are 0.
SCRIPT = f"""
from array import array
from mpconnxr import forms
N = {N}
x, w, out = bytearray(9 * N + 80), bytearray(18 * N), bytearray(N)
# Parameters of loops/qdot, in the order of their indices.
p = array("i", [8 * N, 0, 4, 1, N, 0, N, 1, 0] + [0] * 3 + [4, 8, 1, 0, 0])
# The same for 7 positions, with scratch: loops compute several of them at a time.
some, of_some = bytearray(200), bytearray(7 * N)
r = array("i", list(p[:16]) + [16])
r[3] = 7
# Parameters of loops/depthwise.
q = array("i", [72, 9, N, 1, 3, 3, 3, 1, 1, 1, 3, 1, 0, 8 * N, 0, 1, 1, 0] + [0] * 4)
loops = []
for form in forms.available("qdot"):
    of_dots = forms.get("qdot", form)
    loops += [(form, "qdots8", of_dots.qdots8, p), (form, "qdots8_many", of_dots.qdots8_many, p)]
    if form != "plain":
        loops.append((form, "with room", of_dots.qdots8, r))
for form in forms.available("depthwise"):
    loops.append((form, "depthwise33", forms.get("depthwise", form).depthwise33, q))
counts = [0] * len(loops)
with open("cases", "rb") as f:
    for _ in range(int(open("n").read())):
        f.readinto(memoryview(w)[:8 * N])
        right, limits = f.read(N), array("i", f.read(12))
        p[9:12] = limits
        r[9:12] = limits
        q[18:21] = limits
        for i, (form, name, loop, block) in enumerate(loops):
            loop(some if block is r else x, w, of_some if block is r else out, block)
            if block is r:
                out[:] = memoryview(of_some)[6 * N:]
            if out != right:
                counts[i] += sum([a != b for a, b in zip(out, right)])
for (form, name, _, _), count in zip(loops, counts):
    print(form, name, count)
"""


def call(rng):
    """Return a table, the right bytes, and zero point and limits, as the script reads them."""
    n = N // N_OF_ONE
    # scales of x, w and y
    numbers = [np.exp2(rng.uniform(*ends, n)) for ends in ((-7, 1), (-13, -4), (-7, 0))]
    if rng.integers(3) == 0:  # powers of two and small multiples of them: true middles
        numbers = [np.exp2(np.rint(np.log2(v))) for v in numbers]
        numbers[1] *= rng.choice([1, 3, 5], n)
    x, w, y = (v.astype(np.float32).tolist() for v in numbers)
    scales = [Fraction(a) * Fraction(b) / Fraction(c) for a, b, c in zip(x, w, y, strict=True)]
    zero = int(rng.integers(-128, 128))
    # Small scales have sums of 2**20, as in real models.
    reach = np.where([s < Fraction(1, 1 << 15) for s in scales], 1 << 20, 1 << 25)
    result = channel_multipliers(scales, Sums(reach * 0, -reach, reach), -128 - zero, 127 - zero)
    real = np.array([float(s) for s in scales])[:, None]
    middles = rng.integers(-130 - zero, 130 - zero, (n, N_OF_ONE)) + 0.5
    sums = np.floor(middles / real).astype(np.int64) + rng.integers(-1, 3, middles.shape)
    sums = np.clip(sums, -reach[:, None], reach[:, None])
    exact = [[round(v * s) for v in row] for row, s in zip(sums.tolist(), scales, strict=True)]
    exact = np.clip(np.array(exact) + zero, -128, 127)
    exact = np.where(result.are_exact[:, None], exact, 0)
    sums = np.where(result.are_exact[:, None], sums, 0)
    exact[~result.are_exact] = zero
    words = table(
        (sums << 5 | result.shifts[:, None]).reshape(-1),
        np.repeat(result.mantissas, N_OF_ONE),
        N,
    )
    limits = array("i", [v + BIAS for v in (zero, -128, 127)])
    case = words.tobytes() + exact.astype(np.int8).tobytes() + limits.tobytes()
    return case, result.are_exact


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_no_sum_is_rounded_the_wrong_way(target):
    rng = np.random.default_rng(7)
    n = CALLS.get(target.name, 8) * MORE
    calls = [call(rng) for _ in range(n)]
    assert np.mean([flags.mean() for _, flags in calls]) > 0.999
    files = {"mpconnxr": PACKAGE, "cases": b"".join(c for c, _ in calls), "n": str(n).encode()}
    lines = small.run(target, SCRIPT, files, timeout=7200).splitlines()
    assert len(lines) >= 6
    assert [line for line in lines if not line.endswith(" 0")] == []
