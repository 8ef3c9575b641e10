"""What rewrites make of operators before DynamicQuantizeLinear: DynamicNorm, DynamicGate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..errors import Problem
from . import OWN, lowers
from ._dtypes import FLOAT, INT32, UINT8
from ._elementwise import float_bits

_MOST_ITEMS = 0x7FFF
_EXPONENT = 1024
_VALUE, _FACTOR, _SUMMAND = 29, 24, 30  # bits of items, and those that products lose; see fixed
_EIGHTH, _UNITS = 8, 1 << 21
_MOST_EIGHTHS = 128
_NOTHING = 2.0**-23  # 1 - s where s is 1
_DEGREE = 3


def _infer(node):
    return [(UINT8, node.inputs[0].shape), (FLOAT, ()), (UINT8, ())]


def is_norm(factors: Sequence[np.ndarray]) -> bool:
    """Whether fixed point serves a layer normalization with this scale and bias, broadcast."""
    scale, bias = factors
    is_finite = np.isfinite(scale).all() and np.isfinite(bias).all()
    largest = max(np.abs(scale).max(), np.abs(bias).max()) if scale.size else 0.0
    return bool(is_finite and 0 < scale.size <= _MOST_ITEMS and 2.0**-40 < largest < 2.0**40)


@lowers("DynamicNorm", domain=OWN, infer=_infer)
def lower_norm(node):
    """LayerNormalization of rows as long as scale and bias, and DynamicQuantizeLinear."""
    x, scale, bias = node.inputs
    n = scale.nelem
    factors = [node.const(i).astype(np.float64).reshape(-1) for i in (1, 2)]
    if x.dtype != FLOAT or bias.nelem != n or not is_norm(factors) or x.nelem % n:
        raise Problem(f"{x} by {scale} and {bias}")
    before = math.ceil(math.log2(n) / 2)  # of an item without scale and bias
    top = max(_log2(factors[0]) + before, _log2(factors[1]))
    unit, point = top + 1 - _VALUE, _VALUE - before
    words = np.stack(
        [
            np.rint(np.ldexp(factors[0], _FACTOR - point - unit)) + (1 << _FACTOR),
            np.rint(np.ldexp(factors[1], -unit)) + (1 << _SUMMAND),
        ],
        axis=1,
    )
    node.emit(
        "dynamic_normalize",
        [x, node.constant(words.astype(np.int32))],
        node.outputs,
        scratch=[node.temp(INT32, (x.nelem,)), node.temp(FLOAT, (3,))],
        lines=x.nelem // n,
        n=n,
        epsilon=float_bits(node.attr("epsilon", 1e-5)),
        unit=_EXPONENT + unit,
        point=_EXPONENT + point,
    )


def _log2(values):
    """The least power of two that none reaches."""
    return math.frexp(float(np.abs(values).max()))[1] if values.any() else -(1 << 9)


@lowers("DynamicGate", domain=OWN, infer=_infer)
def lower_gate(node):
    """v * s(v), v = x * scale + offset of its last axis, and DynamicQuantizeLinear."""
    x, scale, offset = node.inputs
    channels = x.shape[-1] if max(scale.nelem, offset.nelem) > 1 else 1
    if x.dtype != INT32 or any(t.nelem not in (1, channels) for t in (scale, offset)):
        raise Problem(f"{x} by {scale} and {offset}")
    table = node.constant(gate_table(node.attr("gate"), node.attr("alpha", 1.0)))
    scratch = [node.temp(INT32, (x.nelem,)), node.temp(INT32, (2 * channels + table.nelem,))]
    node.emit(
        "dynamic_gate",
        [x, scale, offset, table],
        node.outputs,
        scratch=[*scratch, node.temp(FLOAT, (3,))],
        channels=channels,
        bits=node.attr("bits"),
    )


def gate_table(gate: str, alpha: float = 1.0) -> np.ndarray:
    """Coefficients of s in each eighth: see gates in loops/fixed."""
    f = _GATES[gate](alpha)
    n = next(i for i in range(1, _MOST_EIGHTHS + 1) if 1 - f(i / _EIGHTH) < _NOTHING)
    t = 0.5 - np.cos(np.pi * (np.arange(16) + 0.5) / 16) / 2
    rows = []
    for i in range(n):
        values = np.array([f((i + v) / _EIGHTH) for v in t])
        c = np.polynomial.polynomial.polyfit(t, values, _DEGREE)[::-1] * _UNITS
        rows.append(np.rint(c) + [1 << _SUMMAND, 1 << _SUMMAND, 0, 0])
    return np.maximum(rows, 0).astype(np.int32)


def _gelu(_):
    return lambda u: 0.5 * math.erfc(-u * math.sqrt(0.5))


def _gelu_tanh(_):
    scale = math.sqrt(2 / math.pi)
    return lambda u: 0.5 * (1 + math.tanh(scale * (u + 0.044715 * u**3)))


def _swish(alpha):
    return lambda u: 1 / (1 + math.exp(-alpha * u))


_GATES: dict[str, Callable[[float], Callable[[float], float]]] = {
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "swish": _swish,
}
