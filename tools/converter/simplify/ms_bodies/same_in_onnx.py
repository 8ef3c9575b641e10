"""Expand operators that ONNX has too, under another name or with slight differences."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands


@expands("ExpandDims", inputs="X axis", fixes="axis", oldest=11)
def expand_dims(b: Body):
    """Insert one axis, counted from the end of the result if negative."""
    return b.unsqueeze("X", int(_one(b, "axis")))


@expands("GatherND", inputs="data indices", oldest=11)
def gather_nd(b: Body):
    """Gather without batch dims."""
    return b.add("GatherND", "data", b.cast("indices", TensorProto.INT64))


@expands("Pad", inputs="data pads value", fixes="pads", oldest=11)
def pad(b: Body):
    """Pad by a vector, or by a matrix of one row."""
    pads = b.known("pads")
    if pads is None:
        raise Problem("pads is not a constant")
    value = [b.reshape("value")] if b.has("value") else []
    return b.add("Pad", "data", b.ints(*pads.ravel()), *value, mode=b.attr("mode", "constant"))


@expands("Range", inputs="start limit delta", fixes="start limit delta", oldest=11)
def counted(b: Body):
    """Compute a range with step 1 by default. Inputs may be vectors of one element."""
    dtype = b.dtype("start")
    ends = [b.reshape(name) for name in ("start", "limit")]
    delta = b.reshape("delta") if b.has("delta") else b.const(1, dtype)
    if dtype != TensorProto.INT16:
        return b.add("Range", *ends, delta)
    wide = (b.cast(x, TensorProto.INT32) for x in (*ends, delta))  # whose extent ONNX infers
    return b.cast(b.add("Range", *wide), TensorProto.INT16)


@expands("Trilu", inputs="X k", fixes="k", oldest=11)
def triangle(b: Body):
    """Keep one side of the diagonal of matrices of known shape; all other elements become 0."""
    k = int(_one(b, "k")) if b.has("k") else 0
    shape = b.shape("X")[-2:]
    kept = np.triu(np.ones(shape, bool), k) if b.attr("upper", 1) else np.tri(*shape, k, bool)
    return b.add("Where", b.const(kept), "X", b.const(0, b.dtype("X")))


@expands("UnfoldTensor", inputs="input", outputs="output", oldest=11)
def unfold(b: Body):
    """Gather windows along an axis; the elements of a window become the last axis."""
    rank, size, step = b.rank("input"), b.attr("size"), b.attr("step", 1)
    axis = b.attr("dim", -1) % rank
    count = (b.extent("input", axis) - size) // step + 1
    if count < 1:
        raise Problem(f"size {size} is more than the extent of axis {axis}")
    positions = np.arange(count, dtype=np.int64)[:, None] * step + np.arange(size)
    windows = b.add("Gather", "input", b.const(positions), axis=axis)
    order = [i for i in range(rank + 1) if i != axis + 1]
    return b.transpose(windows, *order, axis + 1)


@expands("Unique", inputs="x", outputs="y idx counts", oldest=11)
def unique(b: Body):
    """Return unique elements in order of appearance, and each element's index among them."""
    y, _, positions, counts = b.add("Unique", "x", n=4, sorted=0)
    return [y, positions, counts]


@expands("GridSample", inputs="X Grid", oldest=16)
def grid_sample(b: Body):
    """Sample a grid; the linear and cubic modes have other names since opset 20."""
    mode = b.attr("mode", "bilinear")
    if b.version >= 20:
        mode = {"bilinear": "linear", "bicubic": "cubic"}.get(mode, mode)
    padding, aligned = b.attr("padding_mode", "zeros"), b.attr("align_corners", 0)
    options = {"mode": mode, "padding_mode": padding, "align_corners": aligned}
    return b.add("GridSample", "X", "Grid", **options)


@expands(
    "QLinearWhere",
    inputs="condition X x_scale x_zero_point Y y_scale y_zero_point z_scale z_zero_point",
    outputs="Z",
    oldest=11,
)
def where(b: Body):
    """Choose among dequantized numbers, and quantize the result."""
    sides = (
        b.add("DequantizeLinear", s, f"{s.lower()}_scale", f"{s.lower()}_zero_point") for s in "XY"
    )
    return b.add("QuantizeLinear", b.add("Where", "condition", *sides), "z_scale", "z_zero_point")


@expands("MatMulInteger16", inputs="A B", oldest=11)
def matmul_integer(b: Body):
    """Multiply 16-bit integers in int32."""
    return b.add("MatMul", *(b.cast(name, TensorProto.INT32) for name in "AB"))


@expands("SampleOp", inputs="X", oldest=11)
def sample(b: Body):
    """Return X: onnxruntime's example of a custom operator."""
    return b.add("Identity", "X")


def _one(b, name):
    value = b.known(name)
    if value is None or value.size != 1:
        raise Problem(f"{name} is not a constant of one element")
    return value.ravel()[0]
