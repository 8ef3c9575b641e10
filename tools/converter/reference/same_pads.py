"""Write explicit pads for pools where onnxruntime computes auto_pad SAME differently from ONNX.

If strides are larger than windows, onnxruntime computes negative pads. It then refuses MaxPool and
AveragePool (a window of 1 with strides of 2 over 8 elements, as in TensorFlow's ResNets), and
LpPool begins within the input. It also pads dilated windows as if they had no dilations. ONNX,
like TensorFlow, pads by at least 0 and by the whole reach of a window. Pads as large as the
window, which onnxruntime refuses, become an operator Pad. Two cases still have no reference then:
indices of MaxPool, and windows that consist only of pads.
"""

from __future__ import annotations

from math import prod

import numpy as np
import onnx
from onnx import helper, inliner, numpy_helper, shape_inference

from ..protos import bodies_of, copied, nodes_of, opset_of, set_all, write_defaults

_POOLS = ("AveragePool", "LpPool", "MaxPool")
_ONNX = ("", "ai.onnx")


def written_out(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with explicit pads for pools that onnxruntime pads wrongly.

    The result is a copy if the model has such pools. The pads of a pool in a local function depend
    on the call, so functions are inlined then.
    """
    if not any(_has_same(node) for nodes in _node_lists(model) for node in nodes):
        return model
    if any(_is_pool(node) for function in model.functions for node in nodes_of(function)):
        model = copied(model)
        write_defaults(model)
        model = inliner.inline_local_functions(model)
    model = copied(model)
    inferred = shape_inference.infer_shapes(model).graph
    _write_out_in(model.graph, inferred, {}, opset_of(model, ""))
    return model


def _node_lists(model):
    return (nodes_of(each) for each in (model.graph, *model.functions))


def _is_pool(node):
    return node.op_type in _POOLS and node.domain in _ONNX


def _has_same(node):
    """Return True for a pool with SAME, or with an auto_pad that a call of its function sets."""
    return _is_pool(node) and any(
        a.name == "auto_pad" and (a.ref_attr_name or a.s.startswith(b"SAME"))
        for a in node.attribute
    )


def _write_out_in(graph, inferred, outer, opset):
    """Write the pads of a graph's pools, in place, bodies included.

    Args:
        graph: the graph.
        inferred: the graph with inferred types.
        outer: types of the values around it.
        opset: version of ONNX's operators.
    """
    types, nodes = outer | _types(inferred), []
    for node, known in zip(graph.node, inferred.node, strict=True):
        for body, inferred_body in zip(bodies_of(node), bodies_of(known), strict=True):
            _write_out_in(body, inferred_body, types, opset)
        dtype, dims = types.get(node.input[0], (0, [])) if _has_same(node) else (0, [])
        is_known = dims[2:] and all(dims[2:])
        nodes += _written(node, dtype, dims[2:], opset) if is_known else [node]
    set_all(graph.node, nodes)


def _types(graph):
    """Return (dtype, dims) of values by name, 0 for unknown dims."""
    tensors = {
        value.name: value.type.tensor_type
        for value in [*graph.input, *graph.value_info, *graph.output]
    }
    return {
        name: (t.elem_type, [dim.dim_value for dim in t.shape.dim]) for name, t in tensors.items()
    }


def _written(node, dtype, dims, opset):
    """Return nodes with explicit pads that compute what a pool with SAME computes.

    Args:
        node: the pool.
        dtype: dtype of its input.
        dims: spatial dims of its input.
        opset: version of ONNX's operators.
    """
    a = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    ones = [1] * len(dims)
    strides, dilations = a.get("strides", ones), a.get("dilations", ones)
    totals = [
        (-(-d // s) - 1) * s + (k - 1) * dilation + 1 - d
        for d, s, k, dilation in zip(dims, strides, a["kernel_shape"], dilations, strict=True)
    ]
    if min(totals) >= 0 and max(dilations) == 1:
        return [node]  # onnxruntime is right
    small = [max(total, 0) // 2 for total in totals]
    large = [max(total, 0) - s for total, s in zip(totals, small, strict=True)]
    pads = small + large if a["auto_pad"] == b"SAME_UPPER" else large + small
    kept = [each for each in node.attribute if each.name not in ("auto_pad", "ceil_mode", "pads")]
    del node.attribute[:]
    node.attribute.extend(kept)
    is_large = max(p - k for p, k in zip(pads, 2 * a["kernel_shape"], strict=True)) >= 0
    counts = _counts(dims, pads, a["kernel_shape"], strides, dilations)
    if not is_large or not all(map(all, counts)) or len(node.output) > 1:
        node.attribute.append(helper.make_attribute("pads", pads))
        return [node]
    return _behind_pad(node, dtype, pads, opset) + _divided(node, dtype, counts, a)


def _counts(dims, pads, kernel, strides, dilations):
    """Return how many elements of each window are inside the input, by axis and position."""
    return [
        [
            sum(0 <= first + k * dilation < d for k in range(size))
            for first in range(-pad, d + end - (size - 1) * dilation, stride)
        ]
        for d, pad, end, size, stride, dilation in zip(
            dims, pads, pads[len(dims) :], kernel, strides, dilations, strict=False
        )
    ]


def _behind_pad(node, dtype, pads, opset):
    """Return a Pad with values that do not change a pool's results, and the pool without pads.

    Args:
        node: the pool.
        dtype: dtype of its input.
        pads: pads at the beginning of each spatial dim, then at the end.
        opset: version of ONNX's operators.
    """
    np_dtype = helper.tensor_dtype_to_np_dtype(dtype)
    value = 0.0
    if node.op_type == "MaxPool":
        value = -np.inf if np_dtype.kind == "f" else np.iinfo(np_dtype).min
    half = len(pads) // 2
    pads = [0, 0, *pads[:half], 0, 0, *pads[half:]]
    name = f"{node.output[0]} padded"
    read, node.input[0] = node.input[0], name
    if opset < 11:
        return [helper.make_node("Pad", [read], [name], pads=pads, value=value)]
    by, filler = f"{name} by", f"{name} with"
    return [
        _constant(by, np.array(pads, np.int64)),
        _constant(filler, np.array(value, np_dtype)),
        helper.make_node("Pad", [read, by, filler], [name]),
    ]


def _divided(node, dtype, counts, attributes):
    """Return a pool that counts pads, and nodes that correct its means for that."""
    if node.op_type != "AveragePool" or attributes.get("count_include_pad", 0):
        return [node]
    n = prod(attributes["kernel_shape"])
    factors = n / prod(np.ix_(*map(np.array, counts)))
    result, mean, factor = node.output[0], f"{node.output[0]} mean", f"{node.output[0]} factor"
    node.output[0] = mean
    return [
        node,
        _constant(factor, factors[None, None].astype(helper.tensor_dtype_to_np_dtype(dtype))),
        helper.make_node("Mul", [mean, factor], [result]),
    ]


def _constant(name, array):
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(array))
