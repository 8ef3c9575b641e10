"""Weights as short mantissas, for --float fast16 (see mpconnxr/loops/short_dot.py).

1. The sum of a row's products stays below 2**30. Mantissas of x are at most 2**(b - 1), where b
   depends on the length of a row. Those of weights are below 2**14, and their absolute values
   add up to less than 2**30 / 2**(b - 1).
2. They are stored plus 2**14, two in a word, with an even number in each row.
3. Rows of equal weights stay exact: they are means, and an error of one weight would be an error
of
   the whole row. So do rows whose exponent exceeds a byte.
"""

from __future__ import annotations

import numpy as np

HALF = 1 << 14
UNIT = 149  # the value of a mantissa of 1 is 2**(exponent - UNIT)
_SUMS = (1 << 30) - 1


def short_bits(k: int) -> int:
    """Return the bits of the mantissas of x in rows of k elements."""
    bits = 15
    while k > 16:
        k = (k + 3) // 4
        bits -= 1
    return bits


def rounded(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert rows (n, K) to int64 mantissas (n, K) and exponents (n)."""
    rows = np.asarray(rows, np.float64)
    most = (_SUMS >> short_bits(rows.shape[1]) - 1) - rows.shape[1]  # minus what rounding may add
    sizes = np.maximum(np.abs(rows).max(1) / (HALF - 1), np.abs(rows).sum(1) / most)
    exponents = np.where(sizes, np.maximum(np.frexp(sizes)[1] + UNIT, 1), 1)
    scaled = np.ldexp(rows, (UNIT - exponents)[:, None])
    return np.rint(scaled).astype(np.int64), exponents


def nearest(rows: np.ndarray) -> np.ndarray:
    """Return the float32 values that the mantissas of rows represent."""
    whole, exponents = rounded(rows)
    return np.ldexp(whole.astype(np.float64), (exponents - UNIT)[:, None]).astype(np.float32)


def short_mantissas(rows: np.ndarray) -> list[np.ndarray] | None:
    """Convert float32 rows (n, K) to uint32 words and uint8 exponents, or None by rule 3."""
    whole, exponents = rounded(rows)
    if exponents.max() > 254 or not np.ptp(rows, axis=1).any():
        return None
    held = np.pad(whole + HALF, ((0, 0), (0, rows.shape[1] % 2))).astype(np.uint16)
    return [held.view("<u4").astype(np.uint32), exponents.astype(np.uint8)]
