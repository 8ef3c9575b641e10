"""Functions of one float that return inf or NaN where MicroPython's math raises.

They stay accurate in single-precision floats: no function subtracts nearly equal numbers or lets
an intermediate value overflow.
"""

import math

special = math
if not hasattr(math, "erf"):  # firmware without MICROPY_PY_MATH_SPECIAL_FUNCTIONS
    from . import _float_special as special

INF = float("inf")
NAN = float("nan")
_LN2 = math.log(2.0)
_LARGE = 1e9  # from here on x * x + 1 equals x * x, also in doubles
_SQRT_HALF = math.sqrt(0.5)
_SQRT_2_BY_PI = math.sqrt(2.0 / math.pi)

atan = math.atan
erf = special.erf
erfc = special.erfc
tanh = special.tanh


def scope():
    """Return the functions of this module by name, for the expressions of inline loops."""
    return globals()


def exp(x):
    try:
        return math.exp(x)
    except (ValueError, OverflowError):  # overflow: ports raise either
        return INF


def expm1(x):
    """Return exp(x) - 1."""
    try:
        return special.expm1(x)
    except (ValueError, OverflowError):
        return INF


def log(x):
    if x > 0:
        return math.log(x)
    return NAN if x != 0 else -INF


def log1p(x):
    """Return log(1 + x). The error of the rounded sum u cancels in x / (u - 1) (W. Kahan)."""
    u = 1.0 + x
    if u == 1.0:
        return x
    return log(u) * (x / (u - 1.0)) if u < _LARGE else log(u)


def sqrt(x):
    return math.sqrt(x) if x >= 0 else NAN


def sin(x):
    return math.sin(x) if x - x == 0 else NAN


def cos(x):
    return math.cos(x) if x - x == 0 else NAN


def tan(x):
    return math.tan(x) if x - x == 0 else NAN


def asin(x):
    return math.asin(x) if -1 <= x <= 1 else NAN


def acos(x):
    return math.acos(x) if -1 <= x <= 1 else NAN


def sinh(x):
    a = abs(x)
    if a < 1:
        t = expm1(a)
        return math.copysign(0.5 * (t + t / (t + 1.0)), x)
    e = exp(0.5 * a)  # the square of this may overflow where half of it does not
    return math.copysign(0.5 * e * e - 0.5 / e / e, x)


def cosh(x):
    e = exp(0.5 * abs(x))
    return 0.5 * e * e + 0.5 / e / e


def asinh(x):
    a = abs(x)
    if a > _LARGE:
        return math.copysign(log(a) + _LN2, x)
    return math.copysign(log1p(a + a * a / (1.0 + math.sqrt(a * a + 1.0))), x) if a == a else x


def acosh(x):
    if x > _LARGE:
        return log(x) + _LN2
    t = x - 1.0
    return log1p(t + math.sqrt(t * (x + 1.0))) if t >= 0 else NAN


def atanh(x):
    a = abs(x)
    if a < 1:
        return math.copysign(0.5 * log1p(2.0 * a / (1.0 - a)), x)
    return math.copysign(INF, x) if a == 1 else NAN


def half_even(x):
    """Round x to the nearest integer, ties to even."""
    if x - x != 0:
        return x
    whole = x // 1
    rest = x - whole
    if rest > 0.5 or (rest == 0.5 and whole % 2 == 1):
        whole += 1.0
    return math.copysign(whole, x)


def reciprocal(x):
    return 1.0 / x if x else math.copysign(INF, x)


def sigmoid(x):
    if x >= 0:
        return 1.0 / (1.0 + math.exp(-x))
    e = math.exp(x)
    return e / (1.0 + e)


def softplus(x):
    """Return log(1 + exp(x))."""
    return (x if x > 0 else 0.0) + log1p(math.exp(-abs(x)))


def gelu(x):
    """Return x * Phi(x), where Phi is the standard normal distribution function."""
    return 0.5 * x * erfc(-_SQRT_HALF * x)


def gelu_tanh(x):
    """Return gelu(x) by its tanh approximation: 0.5 * (1 + tanh(u)) is sigmoid(2 * u)."""
    return x * sigmoid(2.0 * _SQRT_2_BY_PI * (x + 0.044715 * x * x * x))


def unit(x):
    """Clip x to [0, 1]."""
    if x > 1:
        return 1.0
    return 0.0 if x < 0 else x
