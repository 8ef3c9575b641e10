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
from onnx import helper, shape_inference

from ..protos import copied

_POOLS = ("AveragePool", "LpPool", "MaxPool")


def written_out(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model, or a copy in which pools that onnxruntime pads wrongly have pads."""
    if not any(_is_same_pool(node) for node in model.graph.node):
        return model
    model = copied(model)
    shapes = _shapes(shape_inference.infer_shapes(model).graph)
    for node in filter(_is_same_pool, model.graph.node):
        dims = shapes.get(node.input[0], [])[2:]
        if dims and all(dims):
            _write_out(node, dims)
    return model


def _is_same_pool(node):
    return (
        node.op_type in _POOLS
        and node.domain in ("", "ai.onnx")
        and any(a.name == "auto_pad" and a.s.startswith(b"SAME") for a in node.attribute)
    )


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
