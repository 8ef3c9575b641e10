"""Replace Add, Sub, Mul and Softmax between DQ and Q by QLinear operators.

1. DQ, DQ -> Add or Mul -> Q becomes QLinearAdd or QLinearMul; a Sum of two tensors counts as Add.
2. DQ, DQ -> Sub -> Q becomes QLinearAdd. The second operand is negated: a table flips all bits of
   its integers, and the bits of its zero point are flipped too.
3. DQ -> Softmax -> Q becomes `mpconnxr:QLinearSoftmax`, since com.microsoft's operator truncates
   1 / y_scale to an integer. A Mul or Div by a positive constant in between, by which attention
   scales its scores, is merged into the scale of DQ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx_ir as ir

from .. import _graph as g
from ._edit import Edit
from ._operands import bytes_of, result_of
from ._values import StaysFloat, dequantized, floats_of, quantizer, shape_of, sole_reader
from .functions import call
from .lookup import look_up

_FUSED = {"Add": "QLinearAdd", "Sum": "QLinearAdd", "Sub": "QLinearAdd", "Mul": "QLinearMul"}


def fuse_binary(edit: Edit, node: ir.Node) -> None:
    """Apply rules 1 and 2, or raise StaysFloat."""
    if len(node.inputs) != 2:
        raise StaysFloat(f"it has {len(node.inputs)} inputs")
    a, b = (bytes_of(value, "an input") for value in node.inputs)
    quantize, y = result_of(node)
    if not a.dtype == b.dtype == y.dtype:
        raise StaysFloat("its integers are int8 here and uint8 there")
    out, before = quantize.outputs[0].name, []
    if node.op_type == "Sub":
        b, before = _mirrored(edit, b)
    inputs = [value for q in (a, b) for value in edit.operand(q, out)]
    inputs += edit.parameters(y, out)
    fused = edit.node(_FUSED[node.op_type], inputs, node.name, domain=g.MS)
    edit.fuse(node, quantize, [*before, fused])


def _mirrored(edit, q):
    table = ~np.arange(256, dtype=np.uint8)
    mirrored = edit.new_value(q.values.name, q.dtype, like=q.values)
    node = look_up(edit, q.values, table.view(q.zero.dtype), mirrored.name, mirrored)
    return replace(q, values=mirrored, zero=~q.zero), [node]


def scale_scores(edit: Edit) -> bool:
    """Merge a Mul or Div of a Softmax's scores into the scale of DQ: the second part of rule 3.

    This runs before other rules would turn the Mul or Div into a table.
    """
    changed = [_scale_score(edit, node) for node in list(edit.graph) if g.is_op(node, "Softmax")]
    return any(changed)


def _scale_score(edit, softmax):
    x = softmax.inputs[0]
    node, is_quantized = x.producer(), quantizer(softmax.outputs[0]) is not None
    if not g.is_op(node, "Mul", "Div") or not is_quantized or sole_reader(x) is None:
        return False
    a, b = node.inputs
    if node.op_type == "Mul" and dequantized(a) is None:
        a, b = b, a
    q, number = dequantized(a), floats_of(b)
    if q is None or not q.is_bytes or number is None or number.size != 1:
        return False
    if shape_of(a) is None or shape_of(a) != shape_of(x):
        return False
    with np.errstate(all="ignore"):
        number, old = np.float64(number.reshape(())), np.float64(q.scale.reshape(()))
        scale = np.float32(old * number if node.op_type == "Mul" else old / number)
    if not 0 < scale < np.inf:
        return False
    dq = a.producer()
    inputs = [q.values, *edit.parameters(replace(q, scale=scale), x.name)]
    scaled = edit.node(dq.op_type, inputs, edit.new_name(x.name), domain=dq.domain)
    edit.replace(node, [scaled])
    return True


def fuse_softmax(edit: Edit, node: ir.Node) -> None:
    """Apply the first part of rule 3, or raise StaysFloat."""
    x = bytes_of(node.inputs[0], "its input")
    quantize, y = result_of(node)
    if y.dtype != x.dtype:
        raise StaysFloat("its integers are int8 here and uint8 there")
    out = quantize.outputs[0].name
    inputs = [*edit.operand(x, out), *edit.parameters(y, out)]
    axis = g.attr(node, "axis", -1 if edit.opset >= 13 else 1)
    edit.fuse(node, quantize, [call(edit, "QLinearSoftmax", inputs, node.name, axis=axis)])
