"""Weights in block floating point: mantissas, an exponent a row (see mpconnxr/ops/_block.py)."""

from __future__ import annotations

import numpy as np

from mpconnxr.ops._block import CHUNK, MAX_K, SHORT_WORDS, WORDS, product_places

from ..ir import Tensor
from ..shapes.extent import bound_of, is_open
from ._dtypes import FLOAT
from ._short import short_mantissas

HALF = 1 << 23  # mantissas have 24 bits with the sign, and are stored plus this
UNIT = 149  # the value of a mantissa of 1 is 2**(exponent - UNIT)
NO_CLIP = (-np.inf, np.inf)
NARROW = (4, 2, 3)  # dtypes of weights in 16, 8 and 4 bits: uint16, uint8, int8
_HELD = {16: np.uint16, 8: np.uint8}  # by bits; 4: int8, two a byte


def is_block(node, x: Tensor, w: Tensor, k: int) -> bool:
    """True if a product of rows of k items is one of block floating point.

    w: rows with what goes with them; not finite ones are for floats.
    """
    if x.dtype != FLOAT or not node.is_exact or not 0 < int(bound_of(k)) <= MAX_K:
        return False
    return w.data is None or bool(np.isfinite(w.data).all())


def mantissas(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """float32 rows (n, K) -> int32 mantissas (n, K) as they are held, uint8 exponents (n)."""
    rows = np.asarray(rows, np.float64)
    largest = np.abs(rows).max(1, initial=0.0)
    # frexp: largest = m * 2**e with m in [0.5, 1), whose biased exponent is e + 126
    exponents = np.where(largest, np.clip(np.frexp(largest)[1] + 126, 1, 254), 1)
    scaled = np.ldexp(np.abs(rows), (UNIT - exponents)[:, None])
    whole = np.minimum(np.floor(scaled + 0.5), HALF - 1)
    signed = (np.sign(rows) * whole).astype(np.int64)
    return (signed + HALF).astype(np.int32), exponents.astype(np.uint8)


def unit_mantissas(values: np.ndarray) -> tuple[np.ndarray, int]:
    """(integers of one unit, as loops/units makes them of a row; its exponent), of any shape."""
    values = np.asarray(values, np.float64)
    largest = np.abs(values).max(initial=0.0)
    exponent = int(np.clip(np.frexp(largest)[1] + 126, 1, 254)) if largest else 1
    whole = np.floor(np.ldexp(np.abs(values), UNIT + 3 - exponent) + 0.5)
    return (np.sign(values) * whole + (1 << 26)).astype(np.int32), exponent


def block_constants(node, w: Tensor, k: int, has_bias: bool) -> list[Tensor]:
    """Mantissas and exponents of known rows of k items, with or without a bias behind each; the
    biases as well if one is not 0. Mantissas are short ones (uint32) where that is wanted.
    """
    rows = w.data.reshape(-1, k + has_bias)
    held = short_mantissas(rows[:, :k]) if node.is_short else None
    if held is None:
        found, exponents = mantissas(rows[:, :k])
        held = [narrowed(found, node.held_bits), exponents]
    if rows[:, k:].any():
        held.append(rows[:, k])
    return [node.constant(values) for values in held]


def narrowed(found: np.ndarray, bits: int) -> np.ndarray:
    """Mantissas (rows, K) as a board holds them in fewer bits, where nothing is lost by it."""
    shift = 24 - bits
    if shift == 0 or (found & ((1 << shift) - 1)).any():
        return found
    held = found >> shift
    if bits > 4:
        return held.astype(_HELD[bits])
    held = np.pad(held, ((0, 0), (0, held.shape[1] % 2)))
    return (held[:, ::2] | held[:, 1::2] << 4).astype(np.uint8).view(np.int8)


def gemm_words(n: int, k: int, short: bool = False) -> int:
    """Scratch of block_gemm for rows of k items and n columns. short: with short mantissas."""
    words = SHORT_WORDS if short else WORDS
    return product_places(CHUNK if is_open(n) else n, k, words)[-1]
