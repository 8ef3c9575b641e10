"""Reductions along the middle axis of x (outer, length, inner). Plain form.

A line is the elements along that axis. x holds elements of any dtype, out one for each line. w
holds the result of an empty line, for largest and smallest only.

Float sums run in blocks whose totals are added with compensation (Neumaier), so that single floats
lose little however long the sum is. Integers are exact and wrap around at the end.
"""

import math

# Parameters of log, mean: as log.log32
# Parameters of sum_float, prod_float, largest, smallest, log_sum_exp, root, sum_int, prod_int
_START = 0  # first output [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_LENGTH = const(2)  # of a line [elements] 0..
_INNER = const(3)  # size of the inner axis [lines] 1..
# Parameters of mean
_MEAN_LENGTH = const(2)  # elements of a sum [elements] 0..
# Parameters of sum_float, root, sum_int, prod_int
_POWER = 4  # exponent of each element's magnitude; 0: signed elements [exponent] 0..
# Parameters of sum_int, prod_int
_SIGNED_BITS = const(5)  # bits of a signed element; 0: unsigned [bits] 0..64
_BITS_PER_ELEMENT = const(6)  # [bits] 2..64
# Parameters of sum_int
_IS_MEAN = const(7)  # divide the sum by length [flag] 0, 1
_IS_ROOT = const(8)  # take the square root [flag] 0, 1

_BLOCK = 32
_INF = float("inf")


def sum_float(x, w, out, p):
    """Sum x, or abs(x) ** power.

    Access:
        low, high = start // inner * length * inner, ((end - 1) // inner + 1) * length * inner
        reads x[low : high] if start < end
        writes out[start : end]
    """
    length, inner, power = p[_LENGTH], p[_INNER], p[_POWER]
    o = p[_START]
    while o < p[_END]:
        i = o // inner * length * inner + o % inner
        end = i + length * inner
        total = lost = 0.0
        while i < end:
            stop = i + _BLOCK * inner
            if stop > end:
                stop = end
            part = 0.0
            if power == 0:
                while i < stop:
                    part += x[i]
                    i += inner
            else:
                while i < stop:
                    v = x[i]
                    part += v * v if power == 2 else abs(v) ** power
                    i += inner
            new = total + part
            lost += (total - new) + part if abs(total) >= abs(part) else (part - new) + total
            total = new
        # with an infinite total, the compensation is NaN
        out[o] = total + lost if total - total == 0.0 else total
        o += 1


def sum_int(x, w, out, p):
    """Do the same for integers, optionally with a mean, which is truncated, and a square root.

    Access: as sum_float
    """
    half, mask = 1 << p[_SIGNED_BITS] >> 1, (1 << p[_BITS_PER_ELEMENT]) - 1
    length, inner, power = p[_LENGTH], p[_INNER], p[_POWER]
    o = p[_START]
    while o < p[_END]:
        i = o // inner * length * inner + o % inner
        end = i + length * inner
        total = 0
        while i < end:
            v = x[i]
            if power:
                v = abs(v) if power == 1 else v * v
            total += v
            i += inner
        if p[_IS_MEAN] and length:  # truncate
            total = total // length if total >= 0 else -(-total // length)
        if p[_IS_ROOT]:
            total = _isqrt(total)
        out[o] = (total + half & mask) - half
        o += 1


def _isqrt(v):
    """Return the integer part of the square root, exact."""
    if v < 2:
        return v
    root = 1
    while root * root <= v:
        root <<= 1
    while True:
        better = (root + v // root) >> 1
        if better >= root:
            return root
        root = better


def prod_float(x, w, out, p):
    """Access: as sum_float"""
    length, inner = p[_LENGTH], p[_INNER]
    o = p[_START]
    while o < p[_END]:
        i = o // inner * length * inner + o % inner
        end = i + length * inner
        total = 1.0
        while i < end:
            total *= x[i]
            i += inner
        out[o] = total
        o += 1


def prod_int(x, w, out, p):
    """Access: as sum_float"""
    half, mask = 1 << p[_SIGNED_BITS] >> 1, (1 << p[_BITS_PER_ELEMENT]) - 1
    length, inner = p[_LENGTH], p[_INNER]
    o = p[_START]
    while o < p[_END]:
        i = o // inner * length * inner + o % inner
        end = i + length * inner
        total = 1
        while i < end:
            total = total * x[i] & mask
            i += inner
        out[o] = (total + half & mask) - half
        o += 1


def largest(x, w, out, p):
    """Find the largest element; NaN if there is one.

    Access:
        as sum_float
        reads w[0 : 1]
    """
    length, inner = p[_LENGTH], p[_INNER]
    o = p[_START]
    while o < p[_END]:
        i = o // inner * length * inner + o % inner
        end = i + length * inner
        best = w[0]
        while i < end:
            v = x[i]
            if v > best or v != v:
                best = v
            i += inner
        out[o] = best
        o += 1


def smallest(x, w, out, p):
    """Find the smallest element; NaN if there is one.

    Access: as largest
    """
    length, inner = p[_LENGTH], p[_INNER]
    o = p[_START]
    while o < p[_END]:
        i = o // inner * length * inner + o % inner
        end = i + length * inner
        best = w[0]
        while i < end:
            v = x[i]
            if v < best or v != v:
                best = v
            i += inner
        out[o] = best
        o += 1


def log_sum_exp(x, w, out, p):
    """Compute log(sum of exp(x)), factoring out the largest element.

    Access: as sum_float
    """
    length, inner = p[_LENGTH], p[_INNER]
    o = p[_START]
    while o < p[_END]:
        i = o // inner * length * inner + o % inner
        end = i + length * inner
        best = -_INF
        while i < end:
            v = x[i]
            if v > best or v != v:
                best = v
            i += inner
        if best - best == 0.0:
            i -= length * inner
            total = 0.0
            while i < end:
                stop = i + _BLOCK * inner
                if stop > end:
                    stop = end
                part = 0.0
                while i < stop:
                    part += math.exp(x[i] - best)
                    i += inner
                total += part
            best += math.log(total)
        out[o] = best
        o += 1


def mean(x, w, out, p):
    """Divide x, which holds sums, by their length.

    Access:
        reads x[start : end] if mean_length
        writes out[start : end]
    """
    length, o = p[_MEAN_LENGTH], p[_START]
    while o < p[_END]:
        out[o] = x[o] / length if length else _INF - _INF
        o += 1


def root(x, w, out, p):
    """Raise x, which holds sums of powers, to 1 / power.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    exponent, o = 1.0 / p[_POWER], p[_START]
    while o < p[_END]:
        out[o] = x[o] ** exponent
        o += 1


def log(x, w, out, p):
    """Compute log(x).

    Access: as root
    """
    o = p[_START]
    while o < p[_END]:
        v = x[o]
        if v == 0.0:
            out[o] = -_INF
        else:
            out[o] = math.log(v) if v > 0.0 else _INF - _INF
        o += 1
