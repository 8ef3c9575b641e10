"""Weights as short mantissas, of --float fast16 (see mpconnxr/loops/short_dot.py).

1. A row's sum of products stays below 2**30: mantissas of x are at most 2**(b - 1), b by the
   length of a row, and those of weights so small that their sizes add up to less than 2**30 by
   that, and each is below 2**14.
2. They are held plus 2**14, two a word, rows of an even number of them.
3. Rows of equal weights stay exact: these are means, and what is wrong with such a weight is wrong
   with all of its row. So do rows whose exponent takes more than a byte.
"""

from __future__ import annotations

import numpy as np

HALF = 1 << 14
UNIT = 149  # the value of a mantissa of 1 is 2**(exponent - UNIT)
_SUMS = (1 << 30) - 1


def short_bits(k: int) -> int:
    """Bits of the mantissas of x in rows of k items."""
    bits = 15
    while k > 16:
        k = (k + 3) // 4
        bits -= 1
    return bits


def rounded(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """rows (n, K) -> int64 mantissas (n, K), exponents (n)."""
    rows = np.asarray(rows, np.float64)
    most = (_SUMS >> short_bits(rows.shape[1]) - 1) - rows.shape[1]  # less what rounding adds
    sizes = np.maximum(np.abs(rows).max(1) / (HALF - 1), np.abs(rows).sum(1) / most)
    exponents = np.where(sizes, np.maximum(np.frexp(sizes)[1] + UNIT, 1), 1)
    scaled = np.ldexp(rows, (UNIT - exponents)[:, None])
    return np.rint(scaled).astype(np.int64), exponents


def nearest(rows: np.ndarray) -> np.ndarray:
    """What the mantissas of rows stand for."""
    found, exponents = rounded(rows)
    return np.ldexp(found.astype(np.float64), (exponents - UNIT)[:, None]).astype(np.float32)


def short_mantissas(rows: np.ndarray) -> list[np.ndarray] | None:
    """float32 rows (n, K) -> uint32 words and uint8 exponents; None where rule 3 says so."""
    found, exponents = rounded(rows)
    if exponents.max() > 254 or not np.ptp(rows, axis=1).any():
        return None
    held = np.pad(found + HALF, ((0, 0), (0, rows.shape[1] % 2))).astype(np.uint16)
    return [held.view("<u4").astype(np.uint32), exponents.astype(np.uint8)]
