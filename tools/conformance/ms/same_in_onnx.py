"""Cases of operators that ONNX has too: moves, ranges, grids, pools and integer products."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes

_MANY = (np.float32, np.float32, np.int32, np.int64, np.float64)


def _numbers(draw, shape, dtype):
    if np.dtype(dtype).kind == "f":
        return draw.floats(shape, dtype)
    return draw.ints(shape, dtype, -100, 100)


@makes("ExpandDims")
def expand_dims(draw):
    """Insert at the front, in the middle and at the end; negative axes."""
    for c in draw.each(24, dtype=_MANY, place=[0, 0.5, 1], negative=[True, False]):
        shape = draw.shape(1, 4)
        axis = round(c.place * len(shape))
        axis -= (len(shape) + 1) * c.negative
        yield Spec([_numbers(draw, shape, c.dtype), np.int32(axis)], {}, (1,))


@makes("GatherND")
def gather_nd(draw):
    """Draw index tuples of all lengths, with negative indices."""
    for c in draw.each(
        30,
        dtype=_MANY,
        itype=[np.int64, np.int32],
        rank=[1, 2, 3],
        length=[1, 2, 3],
        more=[0, 1, 2],
    ):
        shape = tuple(draw.size(1, 5) for _ in range(max(c.rank, c.length)))
        places = tuple(draw.size(1, 3) for _ in range(c.more))
        columns = [draw.ints(places, c.itype, -n, n - 1) for n in shape[: c.length]]
        yield Spec([_numbers(draw, shape, c.dtype), np.stack(columns, -1)])


@makes("Pad")
def pad(draw):
    """Vary the mode, negative pads, and pads as vector and matrix."""
    for c in draw.each(
        36,
        mode=[None, "constant", "reflect", "edge"],
        value=[True, False],
        matrix=[True, False],
        low=[0, -1],
    ):
        shape = tuple(draw.size(3, 6) for _ in range(draw.size(1, 4)))
        low = 0 if c.mode in ("reflect", "edge") else c.low
        pads = draw.ints((2 * len(shape),), np.int64, low, 2)
        inputs = [draw.floats(shape), pads[None] if c.matrix else pads]
        if c.value and c.mode in (None, "constant"):
            inputs.append(draw.floats(()))
        yield Spec(inputs, c.attributes("mode"), (1,))


@makes("Range")
def counted(draw):
    """Count up and down, with and without a step."""
    for c in draw.each(
        32,
        dtype=[np.float32, np.float64, np.int16, np.int32, np.int64],
        delta=[None, 1, 2, -1, -3],
        shape=[(), (1,)],
        fixed=[(0, 1, 2), (0, 1, 2), ()],
    ):
        step = (c.delta or 1) * (0.5 if np.dtype(c.dtype).kind == "f" else 1)
        start = draw.size(-9, 9)
        known = [start, start + step * draw.size(1, 9)] + ([step] if c.delta else [])
        inputs = [np.full(c.shape, v, c.dtype) for v in known]
        yield Spec(inputs, {}, c.fixed[: len(inputs)])


@makes("Trilu")
def triangle(draw):
    """Yield cases with both sides of diagonals, inside and outside of the matrix, and batches."""
    for c in draw.each(
        30,
        dtype=[np.float32, np.float64, np.int64],
        upper=[None, 0, 1],
        k=[None, 0, 1, -1, 2, -3, 7],
    ):
        shape = draw.shape(2, 4)
        inputs = [_numbers(draw, shape, c.dtype)] + ([] if c.k is None else [np.int64(c.k)])
        yield Spec(inputs, c.attributes("upper"), (1,) if len(inputs) > 1 else ())


@makes("UnfoldTensor")
def unfold(draw):
    """Draw windows that overlap, touch, and leave gaps."""
    for c in draw.each(24, dtype=_MANY, step=[None, 1, 2, 4], last=[True, False]):
        shape = tuple(draw.size(3, 6) for _ in range(draw.size(1, 3)))
        dim = None if c.last else draw.size(0, len(shape) - 1)
        attributes = {"size": draw.size(1, 3)} | c.attributes("step")
        yield Spec(
            [_numbers(draw, shape, c.dtype)], attributes | ({} if dim is None else {"dim": dim})
        )


@makes("Unique")
def unique(draw):
    """Draw few and many different values."""
    for c in draw.each(24, most=[1, 3, 20], count=[1, 5, 12]):
        x = draw.ints((c.count,), np.int64, 0, c.most).astype(np.float32) / 4
        yield Spec([x], {}, (), (True, True, True))


@makes("GridSample")
def grid_sample(draw):
    """Vary modes and paddings, with positions outside."""
    for c in draw.each(
        36,
        mode=[None, "bilinear", "nearest", "bicubic"],
        padding_mode=[None, "zeros", "border", "reflection"],
        align_corners=[None, 0, 1],
        opset=[17, 21],
    ):
        n, channels, h, w = (draw.size(1, m) for m in (2, 3, 5, 5))
        grid = draw.rng.uniform(-1.4, 1.4, (n, draw.size(1, 4), draw.size(1, 4), 2))
        inputs = [draw.floats((n, channels, h + 1, w + 1)), grid.astype(np.float32)]
        yield Spec(inputs, c.attributes("mode", "padding_mode", "align_corners"), opset=c.opset)


@makes("NhwcMaxPool")
def max_pool(draw):
    """Vary strides, pads, dilations and ceil_mode."""
    for c in draw.each(
        32,
        dtype=[np.uint8, np.int8],
        rank=[1, 2, 2],
        step=[None, 1, 2],
        pads=[None, 0, 1],
        dilation=[None, 1, 2],
        ceil_mode=[None, 0, 1],
        auto_pad=[None, None, "SAME_UPPER", "SAME_LOWER", "VALID"],
    ):
        planes = tuple(draw.size(5, 8) for _ in range(c.rank))
        x = draw.ints((draw.size(1, 2), *planes, draw.size(1, 5)), c.dtype)
        attributes = {"kernel_shape": [draw.size(2, 3) for _ in planes]} | c.attributes(
            "ceil_mode"
        )
        if c.step:
            attributes["strides"] = [c.step] * c.rank
        if c.dilation and not c.auto_pad:
            attributes["dilations"] = [c.dilation] * c.rank
        if c.auto_pad:
            attributes["auto_pad"] = c.auto_pad
        elif c.pads is not None:
            attributes["pads"] = [c.pads] * (2 * c.rank)
        yield Spec([x], attributes)


@makes("QLinearWhere")
def where(draw):
    """Draw operands of equal and of different shapes."""
    for c in draw.each(
        30, dtype=[np.uint8, np.int8], shapes=["same", "rows", "one"], fixed=[True, True, False]
    ):
        shape = draw.shape(1, 4)
        other = {"same": shape, "rows": (1, *shape[1:]), "one": (1,)}[c.shapes]
        sides = [draw.ints(s, c.dtype) for s in (shape, other)]
        of = [(draw.scales(()), draw.ints((), c.dtype)) for _ in range(3)]
        condition = draw.ints(shape, np.int64, 0, 1).astype(bool)
        inputs = [condition, sides[0], *of[0], sides[1], *of[1], *of[2]]
        yield Spec(inputs, {}, (2, 3, 5, 6, 7, 8) if c.fixed else (), is_rounded=True)


@makes("MatMulInteger16")
def matmul_integer(draw):
    """Draw matrices, batches and vectors, with sums beyond 16 bits."""
    for c in draw.each(24, rank=[2, 2, 3, 4], fixed=[(), (1,)], most=[9, 1000, 20000]):
        k, batch = draw.size(1, 5), tuple(draw.size(1, 3) for _ in range(c.rank - 2))
        sides = ((*batch, draw.size(1, 4), k), (*batch, k, draw.size(1, 4)))
        yield Spec([draw.ints(s, np.int16, -c.most, c.most) for s in sides], {}, c.fixed)
