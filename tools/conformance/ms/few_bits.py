"""Cases of products with bitsandbytes' 4-bit codes, and of rows of quantized tables."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from .making import Spec, makes

_EIGHTS = (ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)


@makes("MatMulBnb4")
def matmul_bnb4(draw):
    """Draw FP4 and NF4, and blocks that end within a row.

    Without transB onnxruntime leaves gaps in its output.
    """
    for c in draw.each(
        28, quant_type=[0, 1], transB=[None, 1], block_size=[16, 32, 64], rank=[1, 2, 3]
    ):
        n, k = draw.size(1, 9), 16 * draw.size(1, 5)
        a = draw.floats((*(draw.size(1, 3) for _ in range(c.rank - 1)), k))
        codes = draw.ints(((n * k + 1) // 2,), np.uint8)
        largest = draw.scales((-(-n * k // c.block_size),), 0.1, 2)
        attributes = {"N": n, "K": k} | c.attributes("quant_type", "transB", "block_size")
        yield Spec([a, codes, largest], attributes, (1, 2))


@makes("GatherBlockQuantized")
def gather_block_quantized(draw):
    """Yield cases with indices of all dtypes and ranks, which may be negative or out of range.

    Tables of floats may also have one scale for each row, or only one.
    """
    for c in draw.each(
        60,
        dtype=["uint8", "uint8", "uint8", "uint4", "int4", *_EIGHTS],
        bits=[2, 4, 8],
        zeros=[True, False],
        scale=[np.float32, np.float32, np.float16],
        itype=[np.int64, np.int32],
        rank=[0, 1, 2],
        size=[16, 32],
        axis=[0, 0, 1],
        more=[True, False],
        whole=[None, None, "row", "table"],
    ):
        blocks, is_packed = draw.size(1, 3), c.dtype == "uint8"
        last = blocks * c.size - (0 if is_packed else draw.size(0, 7))
        shape = (draw.size(2, 6), last) if not c.more else (draw.size(2, 4), 2, last)
        many = (*shape[:-1], blocks)
        whole = c.whole if c.dtype in _EIGHTS else None
        if whole:
            many = (*shape[:-1], 1) if whole == "row" else (1,) * len(shape)
        gather = c.axis if not is_packed else 0
        inputs, attributes = _table(draw, c, shape, many), {"block_size": 0 if whole else c.size}
        extent = shape[gather]
        places = draw.ints((draw.size(1, 3),) * c.rank, c.itype, -extent - 1, extent)
        inputs.insert(1, places)
        attributes |= {"gather_axis": gather, "quantize_axis": -1 if draw.chance() else 1 + c.more}
        if is_packed:
            attributes["bits"] = c.bits
        fixed = [i for i in range(len(inputs)) if i != 1]
        yield Spec(inputs, attributes, fixed)


def _table(draw, c, shape, many):
    """Draw a quantized table.

    Args:
        draw: draws numbers.
        c: the options.
        shape: shape of the table.
        many: shape of the scales.

    Returns:
        Data, scales and, if requested, zero points.
    """
    scales = draw.scales(many, dtype=c.scale)
    if c.dtype in _EIGHTS:
        return [draw.floats(shape).astype(c.dtype), scales]
    if c.dtype == "uint8":
        per = 8 // c.bits
        data = draw.ints((*shape[:-1], shape[-1] // per), np.uint8)
        zeros = draw.ints((*many[:-1], -(-many[-1] // per)), np.uint8)
    else:
        dtype = getattr(ml_dtypes, c.dtype)
        data, zeros = draw.ints(shape, dtype), draw.ints(many, dtype)
    return [data, scales, zeros] if c.zeros else [data, scales]
