"""Compute norms and gates in fixed point if only a dynamic quantization reads them.

1. LayerNormalization with a known scale and bias, then DynamicQuantizeLinear: mpconnxr's
   DynamicNorm.
2. mpconnxr's ToFloat of MatMulInteger by known weights, then com.microsoft's Gelu, FastGelu or
   QuickGelu (or ONNX's Gelu), then DynamicQuantizeLinear: mpconnxr's DynamicGate.

No value in between may have another reader. Only lowering uses the operators: a model that is
saved keeps the original nodes.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from ..ops.fixed_point import is_norm
from . import _graph as g

_GATES = {"Gelu": "gelu", "FastGelu": "gelu_tanh", "QuickGelu": "swish"}
_LARGEST = 255  # of bytes without their zero point
_ALPHAS = 0.5, 4.0


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "DynamicQuantizeLinear"))


def _merged(node):
    made = node.inputs[0].producer()
    if made is None or g.sole_reader(node.inputs[0]) is None or not g.shape_of(node.inputs[0]):
        return False
    operator = _norm(made) or _gate(made)
    if operator is None:
        return False
    op, inputs, attributes = operator
    return g.replace(node, *g.add_many(node, op, inputs, attributes, g.OWN))


def _norm(made):
    is_meant = any(g.is_op(made, "LayerNormalization", domain=d) for d in ("", g.OWN))
    if not is_meant or any(out.uses() for out in made.outputs[1:]):
        return None
    x, shape = made.inputs[0], g.shape_of(made.inputs[0])
    scale, bias = g.const(g.input_of(made, 1)), g.const(g.input_of(made, 2))
    if not g.is_float(x) or scale is None or g.input_of(made, 2) is not None and bias is None:
        return None
    axis = g.attr(made, "axis", -1) % len(shape)
    try:
        factors = [
            np.broadcast_to(v, shape[axis:]) for v in (scale, 0.0 if bias is None else bias)
        ]
    except ValueError:
        return None
    if not is_norm(factors):
        return None
    constants = [g.constant(x, v.astype(np.float32)) for v in factors]
    attributes = {"axis": axis, "epsilon": g.attr(made, "epsilon", 1e-5)}
    return "DynamicNorm", [x, *constants], attributes


def _gate(made):
    if g.is_op(made, "Gelu"):
        op = "gelu_tanh" if g.attr(made, "approximate", "none") == "tanh" else "gelu"
    elif g.is_op(made, *_GATES, domain=g.MS) and g.input_of(made, 1) is None:
        op = _GATES[made.op_type]
    else:
        return None
    alpha = g.attr(made, "alpha", 1.702) if op == "swish" else 1.0
    reals = g.sole_maker(made.inputs[0], "ToFloat", domain=g.OWN)
    if reals is None or not _ALPHAS[0] <= alpha <= _ALPHAS[1]:
        return None
    sums, scale, offset = reals.inputs
    product, shape = g.sole_maker(sums, "MatMulInteger"), g.shape_of(sums)
    if product is None or not shape or g.attr(reals, "axis", 1) % len(shape) != len(shape) - 1:
        return None
    bits = _bits(product)
    if bits is None or g.const(scale) is not None and g.const(offset) is not None:
        return None
    return "DynamicGate", [sums, scale, offset], {"gate": op, "alpha": alpha, "bits": bits}


def _bits(product):
    """Return the bits of the largest possible sum, without the sign; None if it is not known."""
    w, zero = g.const(product.inputs[1]), g.const(g.input_of(product, 3))
    if w is None or w.ndim != 2 or g.input_of(product, 3) is not None and zero is None:
        return None
    w = w.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))
    return max(int(np.abs(w).sum(axis=0).max() * _LARGEST).bit_length(), 1)
