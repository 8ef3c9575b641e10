"""Lower DynamicNorm and DynamicGate to their kernels, dynamic_normalize and dynamic_gate.

Rewrites make them of operators before DynamicQuantizeLinear.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..errors import Problem
from . import OWN, lowers
from ._dtypes import FLOAT, INT32, UINT8
from ._elementwise import float_bits

_MAX_NELEM = 0x7FFF
_EXPONENT = 1024
_VALUE, _FACTOR, _SUMMAND = 29, 24, 30  # bits of elements, and those that products lose; see fixed
_EIGHTH, _UNITS = 8, 1 << 21
_MAX_EIGHTHS = 128
_EPSILON = 2.0**-23  # if 1 - s is smaller, s is 1
_DEGREE = 3
_TANH_GELU = math.sqrt(2 / math.pi)


def _infer(node):
    return [(UINT8, node.inputs[0].shape), (FLOAT, ()), (UINT8, ())]


def is_norm(factors: Sequence[np.ndarray]) -> bool:
    """Return True if fixed point serves a layer normalization with this scale and bias."""
    scale, bias = factors
    is_finite = np.isfinite(scale).all() and np.isfinite(bias).all()
    largest = max(np.abs(scale).max(), np.abs(bias).max()) if scale.size else 0.0
    return bool(is_finite and 0 < scale.size <= _MAX_NELEM and 2.0**-40 < largest < 2.0**40)


@lowers("DynamicNorm", domain=OWN, infer=_infer)
def lower_norm(node):
    """Lower DynamicNorm: LayerNormalization over rows of scale, then DynamicQuantizeLinear."""
    x, scale, bias = node.inputs
    n = scale.nelem
    factors = [node.const(i).astype(np.float64).reshape(-1) for i in (1, 2)]
    if x.dtype != FLOAT or bias.nelem != n or not is_norm(factors) or x.nelem % n:
        raise Problem(f"{x} by {scale} and {bias}")
    before = math.ceil(math.log2(n) / 2)  # log2 of a normalized element, at most
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
    """Return the exponent of the smallest power of two above all values."""
    return math.frexp(float(np.abs(values).max()))[1] if values.any() else -(1 << 9)


@lowers("DynamicGate", domain=OWN, infer=_infer)
def lower_gate(node):
    """Lower DynamicGate: v * s(v) of v = x * scale + offset, then DynamicQuantizeLinear.

    Scale and offset have one element, or one element for each index of the last axis.
    """
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
    """Return the coefficients of s in each eighth (see gates in loops/fixed)."""
    s = _GATES[gate]
    n = next(i for i in range(1, _MAX_EIGHTHS + 1) if 1 - s(i / _EIGHTH, alpha) < _EPSILON)
    t = 0.5 - np.cos(np.pi * (np.arange(16) + 0.5) / 16) / 2
    rows = []
    for i in range(n):
        values = np.array([s((i + v) / _EIGHTH, alpha) for v in t])
        c = np.polynomial.polynomial.polyfit(t, values, _DEGREE)[::-1] * _UNITS
        rows.append(np.rint(c) + [1 << _SUMMAND, 1 << _SUMMAND, 0, 0])
    return np.maximum(rows, 0).astype(np.int32)


_GATES: dict[str, Callable[[float, float], float]] = {  # s(u), with attribute alpha
    "gelu": lambda u, _: 0.5 * math.erfc(-u * math.sqrt(0.5)),
    "gelu_tanh": lambda u, _: 0.5 * (1 + math.tanh(_TANH_GELU * (u + 0.044715 * u**3))),
    "swish": lambda u, alpha: 1 / (1 + math.exp(-alpha * u)),
}
