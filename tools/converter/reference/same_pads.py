"""Write out padding that onnxruntime computes otherwise than ONNX says.

Where strides are larger than windows, onnxruntime computes pads below 0 for pools with auto_pad
SAME: it refuses MaxPool and AveragePool then (a window of 1 with strides of 2 over 8 items, as
TensorFlow's ResNets have it), and LpPool begins within the input. It also pads dilated windows as
if they had no dilations. ONNX, as TensorFlow, pads by at least 0 and by the whole reach of a
window; onnxruntime refuses pads that are no less than the window's items, and there is no
reference then.
"""

from __future__ import annotations

import onnx
from onnx import helper, inliner, shape_inference

from ..protos import bodies_of, copied, nodes_of

_POOLS = ("AveragePool", "LpPool", "MaxPool")
_ONNX = ("", "ai.onnx")


def written_out(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model, or a copy in which pools that onnxruntime pads wrongly have pads.

    The pads of a pool in a local function depend on where it is called: functions are inlined
    then.
    """
    if not any(_has_same(node) for nodes in _node_lists(model) for node in nodes):
        return model
    if any(_is_pool(node) for function in model.functions for node in nodes_of(function)):
        model = inliner.inline_local_functions(model)
    model = copied(model)
    _write_out_in(model.graph, shape_inference.infer_shapes(model).graph, {})
    return model


def _node_lists(model):
    return (nodes_of(each) for each in (model.graph, *model.functions))


def _is_pool(node):
    return node.op_type in _POOLS and node.domain in _ONNX


def _has_same(node):
    """Whether it is a pool with SAME, or calls a function that may hand it to one."""
    is_candidate = _is_pool(node) or node.domain not in _ONNX
    return is_candidate and any(
        a.name == "auto_pad" and a.s.startswith(b"SAME") for a in node.attribute
    )


def _write_out_in(graph, inferred, outer):
    """Change a graph in place. inferred: the same graph with the dims that onnx infers."""
    shapes = outer | _shapes(inferred)
    for node, known in zip(graph.node, inferred.node, strict=True):
        for body, inferred_body in zip(bodies_of(node), bodies_of(known), strict=True):
            _write_out_in(body, inferred_body, shapes)
        if _is_pool(node) and _has_same(node):
            dims = shapes.get(node.input[0], [])[2:]
            if dims and all(dims):
                _write_out(node, dims)


def _shapes(graph):
    """Dims of values by name; 0 for a dim that is not known."""
    return {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in [*graph.input, *graph.value_info, *graph.output]
    }


def _write_out(node, dims):
    a = {each.name: helper.get_attribute_value(each) for each in node.attribute}
    ones = [1] * len(dims)
    strides, dilations = a.get("strides", ones), a.get("dilations", ones)
    totals = [
        (-(-d // s) - 1) * s + (k - 1) * dilation + 1 - d
        for d, s, k, dilation in zip(dims, strides, a["kernel_shape"], dilations, strict=True)
    ]
    if min(totals) >= 0 and max(dilations) == 1:
        return  # onnxruntime is right
    small = [max(total, 0) // 2 for total in totals]
    large = [max(total, 0) - s for total, s in zip(totals, small, strict=True)]
    pads = small + large if a["auto_pad"] == b"SAME_UPPER" else large + small
    kept = [each for each in node.attribute if each.name not in ("auto_pad", "ceil_mode", "pads")]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute("pads", pads)])
