"""Replace means between DQ and Q by QLinearAveragePool and QLinearGlobalAveragePool.

1. DQ -> AveragePool -> Q, without dilations, becomes `mpconnxr:QLinearAveragePool` (see
   functions). It computes exactly these three nodes: com.microsoft's operator rounds to even after
   the zero point is added, ONNX's QuantizeLinear before.
2. DQ -> GlobalAveragePool -> Q becomes `mpconnxr:QLinearGlobalAveragePool`, for the same reason.
3. DQ -> ReduceMean -> Q over constant axes becomes one of these operators, if it adds up in the
   order of onnxruntime's ReduceMean, else com.microsoft's QLinearGlobalAveragePool, between a
   Transpose that brings the axes to the end (if they are not there yet) and Reshapes.
"""

from __future__ import annotations

import math

import onnx_ir as ir

from ...shapes.extent import any_open, is_open
from .. import _graph as g
from ._edit import Edit
from ._operands import bytes_of, reshape
from ._values import StaysFloat, array_of, quantized, quantizer, shape_of
from .functions import call

_LANES, _AS_PLANES = 4, (4, 8, 12)
_FAR = 3  # the stride from which on AveragePool adds up elements one after another


def fuse_mean(edit: Edit, node: ir.Node) -> None:
    """Apply the rules, or raise StaysFloat."""
    x = bytes_of(node.inputs[0], "its input")
    quantize = quantizer(node.outputs[0])
    y = quantize and quantized(quantize)
    if y is None or not y.is_bytes or y.dtype != x.dtype:
        raise StaysFloat("its result is not quantized to the integers of its input")
    nodes_of = {"AveragePool": _pool, "GlobalAveragePool": _pool, "ReduceMean": _reduce}
    out = quantize.outputs[0].name
    rest = [*edit.parameters(x, out), *edit.parameters(y, out)]
    edit.fuse(node, quantize, nodes_of[node.op_type](edit, node, x, rest, out))


def _pool(edit, node, x, rest, out):
    if any(d != 1 for d in g.attr(node, "dilations", ())):
        raise StaysFloat("it has dilations")
    require_counts(node)
    return [call(edit, f"QLinear{node.op_type}", [x.values, *rest], node.name, node)]


def require_counts(node: ir.Node) -> None:
    """Check that it is known of how many elements each mean is.

    Args:
        node: an AveragePool or a GlobalAveragePool.

    Raises:
        StaysFloat: if a run decides that.
    """
    if not any_open((shape_of(node.inputs[0]) or [])[2:]):
        return
    is_padded = any(g.attr(node, "pads", ())) or g.attr(node, "ceil_mode", 0)
    is_same = g.attr(node, "auto_pad", "NOTSET").startswith("SAME")
    if node.op_type == "GlobalAveragePool" or is_padded or is_same:
        raise StaysFloat("a run decides how many items each mean has")


def _reduce(edit, node, x, rest, out):
    shape, reduced = shape_of(node.inputs[0]), shape_of(node.outputs[0])
    axes = _axes(node, len(shape or ()))
    if shape is None or reduced is None or not axes:
        raise StaysFloat("its axes or shape are not known")
    if any_open([shape[a] for a in axes]):
        raise StaysFloat("a run decides how many items each mean has")
    kept = [a for a in range(len(shape)) if a not in axes]
    values, nodes = x.values, []
    if axes[0] < kept[-1] if kept else False:
        moved = edit.new_value(out, x.dtype, like=None)
        nodes.append(edit.node("Transpose", [values], "", moved, perm=[*kept, *axes]))
        values = moved
    flat = [1, math.prod(shape[a] for a in kept), math.prod(shape[a] for a in axes)]
    rows, mean = (edit.new_value(out, x.dtype, like=None) for _ in range(2))
    return [
        *nodes,
        reshape(edit, values, rows.name, flat, rows),
        _mean_of_rows(edit, node.name, [rows, *rest], mean, shape, axes),
        reshape(edit, mean, out, reduced),
    ]


def _mean_of_rows(edit, name, inputs, mean, shape, axes):
    """Return a node that adds the elements of each mean in the order of onnxruntime's ReduceMean.

    If the reduced axes are the last ones, onnxruntime adds contiguous elements in eight partial
    sums (two groups of four lanes, which begin where memory is aligned). For n < 4 elements this
    is one after another, as in QLinearAveragePool with a wide stride. For n = 4, 8 or 12 it is the
    order of the QLinearGlobalAveragePool that `call` defines. If the reduced axes are the first
    ones, elements are added one after another. In all other cases, the node is com.microsoft's
    QLinearGlobalAveragePool.

    Args:
        edit: the round.
        name: name of the node.
        inputs: its inputs.
        mean: its output.
        shape: shape of x.
        axes: axes that are reduced.
    """
    n = math.prod(shape[a] for a in axes)
    long = [a for a, d in enumerate(shape) if is_open(d) or d > 1]
    reduced = [a for a in long if a in axes]
    side_by_side = reduced == long[len(long) - len(reduced) :]
    if side_by_side and n in _AS_PLANES:
        return call(edit, "QLinearGlobalAveragePool", inputs, name, out=mean)
    if n < _LANES if side_by_side else reduced == long[: len(reduced)]:
        windows = {"kernel_shape": [n], "strides": [max(n, _FAR)]}
        return call(edit, "QLinearAveragePool", inputs, name, out=mean, **windows)
    return edit.node("QLinearGlobalAveragePool", inputs, name, mean, g.MS)


def _axes(node, rank):
    """Return the axes in order; [] where they are not known."""
    axes = g.attr(node, "axes")
    if axes is None and g.input_of(node, 1) is not None:
        known = array_of(node.inputs[1])
        axes = [] if known is None else known.tolist()
    elif axes is None:
        axes = range(0 if g.attr(node, "noop_with_empty_axes", 0) else rank)
    return sorted(a % rank for a in axes) if rank else []
