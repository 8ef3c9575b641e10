"""Requantization by integers: what the device multiplies and shifts by for a float32 scale.

docs/quantization.md has the arithmetic and its error bound; mpconnxr/loops/qdot.py does it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ..ir import Tensor

_BITS = 24  # of the multiplier: a float32's
# A sum is shifted so that its multiplier is from 2**-17 to 2**-16: 2**25 of it then saturate.
_UNIT = -16
_MOST_RIGHT = 31
_LARGEST = math.ldexp((1 << _BITS) - 1, 8 - _BITS)  # saturates every sum but 0, as 256 does


def multiplier(scale: float) -> tuple[int, int]:
    """(word, half): the packed multiplier of a float32, and what rounds a shift to the right.

    half is to be added to the sum. Raises ValueError for a scale that is no positive number.
    """
    if not (math.isfinite(scale) and scale > 0):
        raise ValueError(f"a scale of {scale}")
    fraction, exponent = math.frexp(min(scale, _LARGEST))
    mantissa = int(fraction * (1 << _BITS))
    left = exponent - _UNIT
    if left < -_MOST_RIGHT:  # every product is nearer to 0 than to 1
        return 0, 0
    if left < 0:
        return mantissa << 8 | 32 - left, 1 << -left - 1
    return mantissa << 8 | left, 0


def multipliers(scales: Iterable[float]) -> tuple[np.ndarray, np.ndarray]:
    """(words, halves) of many scales, as int64."""
    words, halves = zip(*(multiplier(float(s)) for s in scales), strict=True)
    return np.array(words, np.int64), np.array(halves, np.int64)


def requantized(sums: np.ndarray, words: np.ndarray) -> np.ndarray:
    """What the device makes of sums, before zero point and limits: see loops/qdot."""
    f, mantissa = words & 63, words >> 8
    left = np.where(f > 31, 0, f)
    most = 1 << 25 >> left
    a = np.clip(sums >> np.where(f > 31, f - 32, 0), -most, most) << left
    g = (a * mantissa + (1 << 23)) >> 24
    return np.rint(g / 65536).astype(np.int64)


def range_of(dtype: int) -> tuple[int, int]:
    """Least and greatest value of an integer dtype (an ONNX number)."""
    info = np.iinfo(Tensor("", dtype, ()).np_dtype)
    return int(info.min), int(info.max)
