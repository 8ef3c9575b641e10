"""The float32 functions that kernel curve computes from tables, as halves (see numbers/curves.py).

A half is the function on one side of 0. Its formulas are in u = |x|.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from ..numbers.curves import (
    FACTOR,
    FACTOR_POWER,
    POWER,
    VALUE,
    Function,
    Half,
    reaches_limit,
)

Halves = tuple[Half, Half]

_LOG2_E = math.log2(math.e)
_EVEN = 17.5  # from here on 1 + exp(-u) is 1 in float32
_FLAT = 2.0**22  # from here on atan(u) is within 1.6e-7 of pi / 2
_WIDE = 2.0**8  # end of a table for a function that has one formula throughout
_NOTHING = (POWER, -200.0)  # log2 of a number below the smallest float32
_MAX_SCALE = 2.0**6
_TANH_GELU = 2 * math.sqrt(2 / math.pi)


def halves(op: str, *constants: float) -> Halves | None:
    """Return the halves of a unary or activation operator, or None if it has no table."""
    return _FUNCTIONS[op](*constants) if op in _FUNCTIONS else None


def _elementwise(f: Callable[[float], float]) -> Function:
    return lambda u: np.array([f(float(v)) for v in u])


def _constant(value: float) -> Function:
    return lambda u: np.full_like(u, value)


def _sigmoid_power(scale: float) -> Function:
    """Return u -> log2(sigmoid(scale * u)). For negative x the slope is added."""
    return lambda u: -np.log1p(np.exp(-scale * u)) * _LOG2_E


def _sigmoid() -> Halves:
    rest, end = (POWER, _sigmoid_power(1.0)), (POWER, 0.0)
    return Half(rest, _EVEN, end, 1.0), Half(rest, _EVEN, end, 0.0, slope=-_LOG2_E)


def _swish(scale: float) -> Halves | None:
    if not 1 / _MAX_SCALE <= scale <= _MAX_SCALE or not reaches_limit(scale * _LOG2_E):
        return None
    rest, end, until = (FACTOR_POWER, _sigmoid_power(scale)), (FACTOR_POWER, 0.0), _EVEN / scale
    slope = -scale * _LOG2_E
    return Half(rest, until, end, math.inf), Half(rest, until, end, 0.0, None, slope, True)


def _by_factor(f: Function) -> tuple[int, Function]:
    """Return u -> f(u) / u as a factor of x, for the part of the table near f(0) = 0."""
    return FACTOR, lambda u: f(np.maximum(u, 1e-9)) / np.maximum(u, 1e-9)


def _odd(f: Function, until: float, limit: float = 1.0) -> Halves:
    half = functools.partial(Half, (VALUE, f), until, (VALUE, limit), limit, _by_factor(f))
    return half(), half(negative=True)


def _sinh() -> Halves:
    rest = (POWER, lambda u: np.log1p(-np.exp(-2 * u)) * _LOG2_E - 1)
    near, end = _by_factor(np.sinh), (POWER, -1.0)
    half = functools.partial(Half, rest, _EVEN / 2, end, math.inf, near, _LOG2_E)
    return half(), half(negative=True)


def _cosh() -> Halves:
    rest = (POWER, lambda u: np.log1p(np.exp(-2 * u)) * _LOG2_E - 1)
    half = Half(rest, _EVEN / 2, (POWER, -1.0), math.inf, slope=_LOG2_E)
    return half, half


def _exp() -> Halves:
    same, end = (POWER, _constant(0.0)), (POWER, 0.0)
    down = Half(same, _WIDE, end, 0.0, slope=-_LOG2_E)
    return Half(same, _WIDE, end, math.inf, slope=_LOG2_E), down


def _gelu() -> Halves:
    def part(u):
        return 0.5 * math.erfc(-u * math.sqrt(0.5))

    positive = Half((FACTOR, _elementwise(part)), 5.6, (FACTOR, 1.0), math.inf)
    power = _elementwise(lambda u: math.log2(max(part(-u), 1e-300)))
    return positive, Half((FACTOR_POWER, power), 14.5, _NOTHING, 0.0, negative=True)


def _gelu_tanh() -> Halves:
    def argument(u):
        return _TANH_GELU * (u + 0.044715 * u**3)

    rest = (FACTOR, lambda u: 1 / (1 + np.exp(-argument(u))))
    power = (FACTOR_POWER, lambda u: -np.logaddexp(0, argument(u)) * _LOG2_E)
    negative = Half(power, 11.0, _NOTHING, 0.0, negative=True)
    return Half(rest, 4.8, (FACTOR, 1.0), math.inf), negative


def _softplus() -> Halves:
    rest = (VALUE, lambda u: np.logaddexp(0, u))
    power = (POWER, lambda u: np.log2(np.log1p(np.exp(-u))) + u * _LOG2_E)
    negative = Half(power, _EVEN, (POWER, 0.0), 0.0, slope=-_LOG2_E)
    return Half(rest, _EVEN, (FACTOR, 1.0), math.inf), negative


def _mish() -> Halves:
    """Return the halves of x * tanh(log(1 + v)) with v = exp(x).

    The factor equals v * (2 + v) / (2 + 2 * v + v * v).
    """

    def power(u):
        v = np.exp(-u)
        return np.log2((2 + v) / (2 + 2 * v + v * v))

    rest = (FACTOR, lambda u: np.tanh(np.logaddexp(0, u)))
    end = (FACTOR_POWER, 0.0)
    negative = Half((FACTOR_POWER, power), _EVEN, end, 0.0, None, -_LOG2_E, True)
    return Half(rest, 9.4, (FACTOR, 1.0), math.inf), negative


def _elu(above: float, below: float, scale: float) -> Halves | None:
    if min(above, below) <= 0 or not 1 / _MAX_SCALE <= scale <= _MAX_SCALE:
        return None

    def f(u):
        return -below * np.expm1(-scale * u)

    rest, end = (VALUE, f), (VALUE, below)
    negative = Half(rest, _EVEN / scale, end, below, _by_factor(f), negative=True)
    return Half((FACTOR, _constant(above)), _WIDE, (FACTOR, above), math.inf), negative


_FUNCTIONS: dict[str, Callable[..., Halves | None]] = {
    "sigmoid": _sigmoid,
    "swish": _swish,
    "tanh": lambda: _odd(np.tanh, 9.1),
    "sinh": _sinh,
    "cosh": _cosh,
    "atan": lambda: _odd(np.arctan, _FLAT, math.pi / 2),
    "twice_atan": lambda: _odd(lambda u: 2 * np.arctan(u), _FLAT, math.pi),
    "erf": lambda: _odd(_elementwise(math.erf), 4.0),
    "exp": _exp,
    "gelu": _gelu,
    "gelu_tanh": _gelu_tanh,
    "softplus": _softplus,
    "mish": _mish,
    "elu": _elu,
}
