"""Block floating point in exact arithmetic, with Python's own big integers and fractions."""

from fractions import Fraction

import numpy as np

HALF = 1 << 23


def exponent_of(values) -> int:
    """Return the biased exponent of the largest of these float32s, at least 1."""
    bits = np.asarray(values, np.float32).view(np.int32) & 0x7FFFFFFF
    return max(1, int(bits.max(initial=0)) >> 23)


def mantissas_of(values, exponent: int) -> list[int]:
    """Return values / 2**(exponent - 149), rounded to 24-bit integers, ties away from zero."""
    results = []
    for v in np.asarray(values, np.float32).ravel():
        scaled = Fraction(float(v)) / Fraction(2) ** (exponent - 149)
        whole = min(int(abs(scaled) + Fraction(1, 2)), HALF - 1)
        results.append(-whole if scaled < 0 else whole)
    return results


def product(values, weights, bias) -> np.float32:
    """Return the device's exact result for a row of values, one of weights and its bias."""
    a, b = exponent_of(values), exponent_of(weights)
    pairs = zip(mantissas_of(values, a), mantissas_of(weights, b), strict=True)
    unit = Fraction(2) ** (a + b - 298)
    exact = Fraction(float(np.float32(bias)))
    total = sum(x * w for x, w in pairs) + int(exact / unit)  # a bias is cut to the sum's units
    return rounded(total * unit)


def rounded(value: Fraction) -> np.float32:
    """Return the nearest float32, ties to even."""
    size, exponent = abs(value), -149
    while size / Fraction(2) ** exponent >= 1 << 24:
        exponent += 1
    scaled = size / Fraction(2) ** exponent
    whole = int(scaled)
    rest = scaled - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2):
        whole += 1
    result = np.inf if whole * Fraction(2) ** exponent >= 1 << 128 else np.ldexp(whole, exponent)
    return np.float32(-result if value < 0 and whole else result)
