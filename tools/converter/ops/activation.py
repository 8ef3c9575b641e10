"""Lower activations to kernels relu, activation and curve, and Clip to clip or binary."""

from __future__ import annotations

import numpy as np

from . import MS, lowers
from ._dtypes import BOOL, FLOAT
from ._elementwise import binary, emit_binary, emit_by_element, emit_unary, float_bits, unary
from ._microsoft import like
from .select import emit_where

# For each operator the kernel's op, and (attribute, default) of its constants c, d, ...
_ATTRIBUTES = {
    "Sigmoid": ("sigmoid", ()),
    "Softplus": ("softplus", ()),
    "Softsign": ("softsign", ()),
    "Mish": ("mish", ()),
    "LeakyRelu": ("leakyrelu", (("alpha", 0.01),)),
    "ThresholdedRelu": ("thresholdedrelu", (("alpha", 1.0),)),
    "HardSigmoid": ("hardsigmoid", (("alpha", 0.2), ("beta", 0.5))),
    "Shrink": ("shrink", (("lambd", 0.5), ("bias", 0.0))),
    "Swish": ("swish", (("alpha", 1.0),)),
}
_BY_STEPS = ("Softsign", "ThresholdedRelu", "Shrink")
_SELU_ALPHA, _SELU_GAMMA = 1.67326319217681884765625, 1.05070102214813232421875


@lowers(*[op for op in _ATTRIBUTES if op not in _BY_STEPS])
def lower_activation(node):
    op, attributes = _ATTRIBUTES[node.op]
    constants = [node.attr(name, default) for name, default in attributes]
    emit_unary(node, op, node.inputs[0], node.outputs[0], *constants)


@lowers("ThresholdedRelu", domain=MS, infer=like(0))
@lowers(*_BY_STEPS)
def lower_by_steps(node):
    """Lower Softsign, ThresholdedRelu and Shrink.

    float32 is computed in steps without boxed floats: x / (1 + |x|); x if x > alpha, else 0; x
    moved towards 0 by bias, and 0 if |x| <= lambd.
    """
    x, out = node.inputs[0], node.outputs[0]
    if x.dtype != FLOAT or not node.is_exact or node.attr("lambd", 0.5) < 0:
        lower_activation(node)
    elif node.op == "Softsign":
        divisor = binary(node, "add", unary(node, "abs", x), [1.0])
        emit_binary(node, "div", x, divisor, out)
    elif node.op == "Shrink":
        is_above = binary(node, "greater", unary(node, "abs", x), [node.attr("lambd", 0.5)], BOOL)
        _emit_where_or_zero(node, is_above, _nearer_to_zero(node, x, node.attr("bias", 0.0)), out)
    else:
        is_above = binary(node, "greater", x, [node.attr("alpha", 1.0)], BOOL)
        _emit_where_or_zero(node, is_above, x, out)


def _nearer_to_zero(node, x, bias):
    """Return x moved towards 0 by bias: x - bias if x is positive, else x + bias."""
    if bias == 0:
        return x
    return binary(node, "sub", x, binary(node, "mul", unary(node, "sign", x), [bias]))


def _emit_where_or_zero(node, condition, x, out):
    emit_where(node, condition, x, node.constant(np.zeros(1, np.float32)), out)


@lowers("HardSwish")
def lower_hard_swish(node):
    emit_unary(node, "hardswish", node.inputs[0], node.outputs[0], 1 / 6, 0.5)


@lowers("Elu", "Celu", "Selu")
def lower_elu(node):
    """Lower to c * x for x > 0, else d * (exp(e * x) - 1)."""
    alpha = node.attr("alpha", _SELU_ALPHA if node.op == "Selu" else 1.0)
    gamma = node.attr("gamma", _SELU_GAMMA) if node.op == "Selu" else 1.0
    inner = 1 / alpha if node.op == "Celu" else 1.0
    emit_unary(node, "elu", node.inputs[0], node.outputs[0], gamma, gamma * alpha, inner)


@lowers("Gelu")
def lower_gelu(node):
    op = "gelu_tanh" if node.attr("approximate", "none") == "tanh" else "gelu"
    emit_unary(node, op, node.inputs[0], node.outputs[0])


@lowers("Clip")
def lower_clip(node):
    """Lower Clip: min(max(x, low), high).

    Limits are attributes up to opset 10, later inputs. All are optional.
    """
    x, out = node.inputs[0], node.outputs[0]
    low, high = _limits(node)
    known = all(t is None or (t.data is not None and t.data == t.data) for t in (low, high))
    if low is None and high is None:
        node.alias(out, x)
    elif x.dtype == FLOAT and known:
        bits = [float_bits(low.data.item() if low else -np.inf)]
        bits.append(float_bits(high.data.item() if high else np.inf))
        emit_by_element(node, "clip", x, out, limits=bits)
    else:
        between = node.temp(x.dtype, x.shape) if low and high else out
        if low:
            emit_binary(node, "max", x, low, between)
        if high:
            emit_binary(node, "min", between if low else x, high, out)


def _limits(node):
    """Return (low, high) as tensors, None for no limit."""
    if node.opset >= 11:
        return node.input(1), node.input(2)
    values = [node.attr(name) for name in ("min", "max")]
    np_dtype = node.inputs[0].np_dtype
    return [None if v is None else node.constant(np.asarray(v, np_dtype)) for v in values]


@lowers("Relu")
def lower_relu(node):
    x, out = node.inputs[0], node.outputs[0]
    if x.dtype == FLOAT:
        emit_by_element(node, "relu", x, out)
    else:
        emit_binary(node, "max", x, 0, out)


# The kernel's op for each operator. QuickGelu is x * sigmoid(alpha * x).
_MS_OPS = {"Gelu": "gelu", "BiasGelu": "gelu", "FastGelu": "gelu_tanh", "QuickGelu": "swish"}


@lowers(*_MS_OPS, domain=MS, infer=like(0))
def lower_ms_gelu(node):
    """Lower GELU variants. A second input is added to x first."""
    x, bias, out = node.inputs[0], node.input(1), node.outputs[0]
    if bias is not None:
        x = binary(node, "add", x, bias)
    constants = [node.attr("alpha", 1.702)] if node.op == "QuickGelu" else []
    emit_unary(node, _MS_OPS[node.op], x, out, *constants)
