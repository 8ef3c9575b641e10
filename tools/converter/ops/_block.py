"""Weights in block floating point: mantissas and one exponent for each row.

See mpconnxr/ops/_block.py for the kernels' side.
"""

from __future__ import annotations

import numpy as np

from mpconnxr.ops._block import CHUNK, MAX_K, SHORT_WORDS, WORDS, product_places

from ..ir import Tensor
from ..shapes.extent import bound_of, is_open
from ._dtypes import FLOAT
from ._short import short_mantissas

HALF = 1 << 23  # added to stored mantissas, which have 24 bits with the sign
UNIT = 149  # the value of a mantissa of 1 is 2**(exponent - UNIT)
NO_CLIP = (-np.inf, np.inf)
NARROW = (4, 2, 3)  # uint16, uint8, int8: dtypes of weights in 16, 8 and 4 bits
_HELD = {16: np.uint16, 8: np.uint8}  # by bits; 4 bits: int8, two a byte


def is_block(node, x: Tensor, w: Tensor, k: int) -> bool:
    """Return True if a product with rows of k elements uses block floating point.

    Args:
        node: the node of the product.
        x: its activations.
        w: its weights, with biases if these follow the rows. Known ones must be finite.
        k: elements of a row.
    """
    if x.dtype != FLOAT or not node.is_exact or not 0 < int(bound_of(k)) <= MAX_K:
        return False
    return w.data is None or bool(np.isfinite(w.data).all())


def mantissas(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convert float32 rows (n, K) to int32 mantissas (n, K) as stored, and uint8 exponents (n)."""
    rows = np.asarray(rows, np.float64)
    largest = np.abs(rows).max(1, initial=0.0)
    # frexp: largest = m * 2**e with m in [0.5, 1), whose biased exponent is e + 126
    exponents = np.where(largest, np.clip(np.frexp(largest)[1] + 126, 1, 254), 1)
    scaled = np.ldexp(np.abs(rows), (UNIT - exponents)[:, None])
    whole = np.minimum(np.floor(scaled + 0.5), HALF - 1)
    signed = (np.sign(rows) * whole).astype(np.int64)
    return (signed + HALF).astype(np.int32), exponents.astype(np.uint8)


def unit_mantissas(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Return values as int32 mantissas and their common exponent, as loops/units makes them."""
    values = np.asarray(values, np.float64)
    largest = np.abs(values).max(initial=0.0)
    exponent = int(np.clip(np.frexp(largest)[1] + 126, 1, 254)) if largest else 1
    whole = np.floor(np.ldexp(np.abs(values), UNIT + 3 - exponent) + 0.5)
    return (np.sign(values) * whole + (1 << 26)).astype(np.int32), exponent


def block_constants(node, w: Tensor, k: int, has_bias: bool) -> list[Tensor]:
    """Return constants for known weights: mantissas, exponents, and biases unless all are 0.

    Args:
        node: the node of the product; it decides if mantissas are short (uint32).
        w: rows of k weights, each followed by its bias if `has_bias`.
        k: weights of a row.
        has_bias: whether `w` holds biases.
    """
    rows = w.data.reshape(-1, k + has_bias)
    held = short_mantissas(rows[:, :k]) if node.is_short else None
    if held is None:
        whole, exponents = mantissas(rows[:, :k])
        held = [narrowed(whole, node.held_bits), exponents]
    if rows[:, k:].any():
        held.append(rows[:, k])
    return [node.constant(values) for values in held]


def narrowed(whole: np.ndarray, bits: int) -> np.ndarray:
    """Return mantissas (rows, K) in `bits` bits as a board holds them, if that loses nothing."""
    shift = 24 - bits
    if shift == 0 or (whole & ((1 << shift) - 1)).any():
        return whole
    held = whole >> shift
    if bits > 4:
        return held.astype(_HELD[bits])
    held = np.pad(held, ((0, 0), (0, held.shape[1] % 2)))
    return (held[:, ::2] | held[:, 1::2] << 4).astype(np.uint8).view(np.int8)


def gemm_words(n: int, k: int, short: bool = False) -> int:
    """Return the scratch of block_gemm for n columns and rows of k elements [words]."""
    words = SHORT_WORDS if short else WORDS
    return product_places(CHUNK if is_open(n) else n, k, words)[-1]
