"""Merge activations into the layer before: com.microsoft's FusedConv and FusedGemm.

1. A Relu, LeakyRelu, Clip with constant limits, HardSigmoid, Sigmoid or Tanh that alone reads a
   Conv, or a FusedConv without an activation: FusedConv.
2. A Relu, LeakyRelu, HardSigmoid, Sigmoid or Tanh that alone reads a Gemm: FusedGemm.
3. One of these that alone reads a MatMul of a matrix by constant weights: FusedGemm.
4. Between layer and activation may be a view (Reshape and the like), which is put behind both.

Convs between DequantizeLinear and QuantizeLinear are left to the rewrites of quantized models.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from . import _graph as g
from .reshapes import VIEWS, reshaped

# Activation -> its attributes with their defaults, in the order of FusedConv's and FusedGemm's
_ATTRIBUTES = {
    "Clip": (),
    "HardSigmoid": (("alpha", 0.2), ("beta", 0.5)),
    "LeakyRelu": (("alpha", 0.01),),
    "Relu": (),
    "Sigmoid": (),
    "Tanh": (),
}
_NAMES = ("activation_alpha", "activation_beta")


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, *_ATTRIBUTES))


def _merged(node):
    view = g.sole_maker(node.inputs[0], *VIEWS)
    x, shape = view.inputs[0] if view else node.inputs[0], g.shape_of(node.outputs[0])
    made, constants = _linear_maker(x), _constants(node)
    if made is None or constants is None or view and not shape or not g.is_float(x):
        return False
    if any(g.maker(value, "DequantizeLinear") for value in made.inputs[:2]):
        return False
    value = _fused(node, made, constants)
    return value is not None and g.replace(node, reshaped(node, value, shape) if view else value)


def _linear_maker(x):
    """Return the node that makes x, if it can take an activation and nobody else reads x."""
    made = g.sole_maker(x, "Conv", "Gemm", "MatMul") or g.sole_maker(x, "FusedConv", domain=g.MS)
    if made is None or "activation" in made.attributes:
        return None
    ranks = [v.shape is not None and len(v.shape) for v in made.inputs[:2]]
    is_plain = ranks == [2, 2] and g.const(made.inputs[1]) is not None
    return made if made.op_type != "MatMul" or is_plain else None


def _fused(node, made, constants):
    """Return FusedConv or FusedGemm in place of two nodes; None if it lacks the activation.

    Args:
        node: the activation.
        made: the layer before it.
        constants: parameters of the activation.
    """
    op = "FusedConv" if "Conv" in made.op_type else "FusedGemm"
    if op == "FusedGemm" and node.op_type == "Clip":
        return None
    attributes, like = {**made.attributes, "activation": node.op_type}, made.outputs[0]
    if op == "FusedGemm":
        attributes.update(zip(_NAMES, constants, strict=False))
    elif constants:
        attributes["activation_params"] = constants
    return g.add(node, op, made.inputs, attributes, g.MS, like=like, named=made)


def _constants(node):
    """Return the activation's numbers; None if a run decides them."""
    if node.op_type != "Clip":
        return [float(g.attr(node, *pair)) for pair in _ATTRIBUTES[node.op_type]]
    most = float(np.finfo(np.float32).max)
    limits = []
    for i, (name, default) in enumerate((("min", -most), ("max", most))):
        number = g.input_of(node, i + 1)
        value = g.attr(node, name, default) if number is None else g.scalar(number)
        if value is None or value != value:
            return None
        limits.append(float(value))
    return limits
