"""Means between DQ and Q become QLinearAveragePool and QLinearGlobalAveragePool.

1. DQ -> AveragePool -> Q, without dilations, becomes `mpconnxr:QLinearAveragePool`, which is
   these three (see qdq_functions): com.microsoft's rounds to even after the zero point is
   added, ONNX's QuantizeLinear before.
2. DQ -> GlobalAveragePool -> Q becomes `mpconnxr:QLinearGlobalAveragePool`, in the same way.
3. DQ -> ReduceMean -> Q over constant axes becomes one of these, whichever adds up in the order
   of onnxruntime's ReduceMean, else com.microsoft's QLinearGlobalAveragePool, between a Transpose
   that brings the axes to the end (where they are not there yet) and Reshapes.
"""

from __future__ import annotations

import math

import onnx
from onnx import helper

from ..shapes.extent import any_open, is_open
from .qdq_functions import call
from .qdq_graph import Graph
from .qdq_operands import bytes_of, reshape
from .qdq_terms import MS, StaysFloat, attribute

_LANES, _AS_PLANES = 4, (4, 8, 12)
_FAR = 3  # the stride from which on AveragePool adds up items one after another


def fuse_mean(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat."""
    x = bytes_of(graph, node.input[0], "its input")
    quantize = graph.quantizer(node.output[0])
    y = quantize and graph.quantized(quantize)
    if y is None or not y.is_bytes or y.dtype != x.dtype:
        raise StaysFloat("its result is not quantized to the integers of its input")
    put = {"AveragePool": _pool, "GlobalAveragePool": _pool, "ReduceMean": _reduce}[node.op_type]
    out = quantize.output[0]
    rest = [*graph.parameters(x, out), *graph.parameters(y, out)]
    graph.fuse(node, quantize, put(graph, node, x, rest, out))


def _pool(graph, node, x, rest, out):
    if any(d != 1 for d in attribute(node, "dilations", ())):
        raise StaysFloat("it has dilations")
    require_counts(graph, node)
    return [_own(graph, node.op_type, [x.values, *rest], out, node.name, node)]


def require_counts(graph: Graph, node: onnx.NodeProto) -> None:
    """Raises StaysFloat if a run decides of how many items a mean is."""
    if not any_open((graph.shape(node.input[0]) or [])[2:]):
        return
    is_padded = any(attribute(node, "pads", ())) or attribute(node, "ceil_mode", 0)
    is_same = attribute(node, "auto_pad", b"NOTSET").startswith(b"SAME")
    if node.op_type == "GlobalAveragePool" or is_padded or is_same:
        raise StaysFloat("a run decides how many items each mean has")


def _own(graph, of_floats, inputs, out, name, like=None, **attributes):
    return call(graph, f"QLinear{of_floats}", inputs, out, name, like, **attributes)


def _reduce(graph, node, x, rest, out):
    shape, reduced = graph.shape(node.input[0]), graph.shape(node.output[0])
    axes = _axes(graph, node, len(shape or ()))
    if shape is None or reduced is None or not axes:
        raise StaysFloat("its axes or shape are not known")
    if any_open([shape[a] for a in axes]):
        raise StaysFloat("a run decides how many items each mean has")
    kept = [a for a in range(len(shape)) if a not in axes]
    values, nodes = x.values, []
    if axes[0] < kept[-1] if kept else False:
        moved = graph.new_value(out, x.dtype, like="")
        nodes.append(helper.make_node("Transpose", [values], [moved], perm=[*kept, *axes]))
        values = moved
    flat = [1, math.prod(shape[a] for a in kept), math.prod(shape[a] for a in axes)]
    rows, mean = (graph.new_value(out, x.dtype, like="") for _ in range(2))
    nodes += [
        reshape(graph, values, rows, flat),
        _mean_of_rows(graph, node.name, [rows, *rest], mean, shape, axes),
        reshape(graph, mean, out, reduced),
    ]
    return nodes


def _mean_of_rows(graph, name, inputs, mean, shape, axes):
    """The mean of n items each, in the order in which onnxruntime's ReduceMean adds them up.

    Items side by side: in two times four sums, which begin where memory is aligned. For some n
    that is one after another, or GlobalAveragePool's order. Items of other axes: one after another
    where no kept axis is before them.
    """
    n = math.prod(shape[a] for a in axes)
    long = [a for a, d in enumerate(shape) if is_open(d) or d > 1]
    reduced = [a for a in long if a in axes]
    side_by_side = reduced == long[len(long) - len(reduced) :]
    if side_by_side and n in _AS_PLANES:
        return _own(graph, "GlobalAveragePool", inputs, mean, name)
    if n < _LANES if side_by_side else reduced == long[: len(reduced)]:
        windows = {"kernel_shape": [n], "strides": [max(n, _FAR)]}
        return _own(graph, "AveragePool", inputs, mean, name, **windows)
    return helper.make_node("QLinearGlobalAveragePool", inputs, [mean], name, domain=MS)


def _axes(graph, node, rank):
    """In order; [] where they are not known."""
    axes = attribute(node, "axes")
    if axes is None and len(node.input) > 1 and node.input[1]:
        found = graph.array(node.input[1])
        axes = [] if found is None else found.tolist()
    elif axes is None:
        axes = range(0 if attribute(node, "noop_with_empty_axes", 0) else rank)
    return sorted(a % rank for a in axes) if rank else []
