"""erf, erfc, expm1 and tanh in single precision, for firmware whose math module lacks them.

The coefficients were fitted to CPython's math.erf and math.erfc. Their relative error is 4e-9 for
_ERF and 5e-8 for _ERFC.
"""

import math

# erf(x) / x in x**2, for |x| <= 1
_ERF = (
    7.969343906607194e-05,
    -0.0008042905778752917,
    0.005191785011303565,
    -0.026855486143674594,
    0.11283621535996367,
    -0.3761262869075009,
    1.1283791660863067,
)
# erfc(z) * exp(z * z) / t in t = 2 / (2 + z), for 0 <= z <= 10.3
_ERFC = (
    -0.05914469435811043,
    0.2849467098712921,
    -0.4879741966724396,
    0.27895817160606384,
    -0.027243012562394142,
    0.20294956862926483,
    0.24303698539733887,
    0.2823845446109772,
    0.2820858955383301,
)
_ERFC_END = 10.3  # from here on erfc(x) underflows in single precision


def _polynomial(coefficients, x):
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total


def erf(x):
    if -1 <= x <= 1:
        return x * _polynomial(_ERF, x * x)
    return 1.0 - erfc(x) if x > 0 else erfc(-x) - 1.0


def erfc(x):
    """Return 1 - erf(x)."""
    if x < 1:
        return 1.0 - erf(x) if x > -1 else 2.0 - erfc(-x)
    if x > _ERFC_END:
        return 0.0
    if x != x:
        return x
    # split x * x so that the first part is exact: exp would amplify its rounding error
    head = int(x * 16) / 16
    t = 2.0 / (2.0 + x)
    decay = math.exp(-head * head) * math.exp((head - x) * (head + x))
    return decay * t * _polynomial(_ERFC, t)


def expm1(x):
    """Return exp(x) - 1. The error of the rounded u cancels in x / log(u) (W. Kahan)."""
    u = math.exp(x)
    if u == 1.0:
        return x
    t = u - 1.0
    return t * (x / math.log(u)) if -0.9 < t < 1e6 else t


def tanh(x):
    a = abs(x)
    if a > 20:
        return math.copysign(1.0, x)
    t = expm1(2.0 * a)
    return math.copysign(t / (t + 2.0), x) if a == a else x
