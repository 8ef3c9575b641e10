"""Reductions along the middle axis of (outer, n, inner). Plain form.

    x    items of any dtype;  out  one item a combination of outer and inner
    w    of largest and smallest: one item, the result of an empty set
    p    lo, hi: range of outputs; n, inner, power; of integers, then: bits of the dtype, if it is
         signed, else 0; at all; 1 for a mean; 1 to take a root

Float sums run in blocks whose totals are added with compensation (Neumaier), so that single floats
lose little however long the sum is. Integers are exact and wrap around at the end.
"""

import math

_BLOCK = 32
_INF = float("inf")


def sum_float(x, w, out, p):
    """power 0: sum of x; 1: of abs(x); 2: of x * x; more: of abs(x) ** power.

    Access:
        n, inner = p[2], max(p[3], 1)
        low, high = p[0] // inner * n * inner, ((p[1] - 1) // inner + 1) * n * inner
        reads x[low : high] if p[0] < p[1]
        writes out[p[0] : p[1]]
    """
    n, inner, power = p[2], p[3], p[4]
    o = p[0]
    while o < p[1]:
        i = o // inner * n * inner + o % inner
        end = i + n * inner
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
        # an infinite total makes nonsense of what was lost
        out[o] = total + lost if total - total == 0.0 else total
        o += 1


def sum_int(x, w, out, p):
    """Powers as in sum_float.

    Access: as sum_float
    """
    half, mask = 1 << p[5] >> 1, (1 << p[6]) - 1
    n, inner, power = p[2], p[3], p[4]
    o = p[0]
    while o < p[1]:
        i = o // inner * n * inner + o % inner
        end = i + n * inner
        total = 0
        while i < end:
            v = x[i]
            if power:
                v = abs(v) if power == 1 else v * v
            total += v
            i += inner
        if p[7] and n:  # towards zero
            total = total // n if total >= 0 else -(-total // n)
        if p[8]:
            total = _isqrt(total)
        out[o] = (total + half & mask) - half
        o += 1


def _isqrt(v):
    """Whole part of the square root, exact."""
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
    n, inner = p[2], p[3]
    o = p[0]
    while o < p[1]:
        i = o // inner * n * inner + o % inner
        end = i + n * inner
        total = 1.0
        while i < end:
            total *= x[i]
            i += inner
        out[o] = total
        o += 1


def prod_int(x, w, out, p):
    """Access: as sum_float"""
    half, mask = 1 << p[5] >> 1, (1 << p[6]) - 1
    n, inner = p[2], p[3]
    o = p[0]
    while o < p[1]:
        i = o // inner * n * inner + o % inner
        end = i + n * inner
        total = 1
        while i < end:
            total = total * x[i] & mask
            i += inner
        out[o] = (total + half & mask) - half
        o += 1


def largest(x, w, out, p):
    """NaN wins.

    Access:
        as sum_float
        reads w[0 : 1]
    """
    n, inner = p[2], p[3]
    o = p[0]
    while o < p[1]:
        i = o // inner * n * inner + o % inner
        end = i + n * inner
        best = w[0]
        while i < end:
            v = x[i]
            if v > best or v != v:
                best = v
            i += inner
        out[o] = best
        o += 1


def smallest(x, w, out, p):
    """NaN wins.

    Access: as largest
    """
    n, inner = p[2], p[3]
    o = p[0]
    while o < p[1]:
        i = o // inner * n * inner + o % inner
        end = i + n * inner
        best = w[0]
        while i < end:
            v = x[i]
            if v < best or v != v:
                best = v
            i += inner
        out[o] = best
        o += 1


def log_sum_exp(x, w, out, p):
    """Stable: the largest value is taken out first.

    Access: as sum_float
    """
    n, inner = p[2], p[3]
    o = p[0]
    while o < p[1]:
        i = o // inner * n * inner + o % inner
        end = i + n * inner
        best = -_INF
        while i < end:
            v = x[i]
            if v > best or v != v:
                best = v
            i += inner
        if best - best == 0.0:
            i -= n * inner
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
    """out = sums x / n

    Access:
        reads x[p[0] : p[1]] if p[2]
        writes out[p[0] : p[1]]
    """
    n, o = p[2], p[0]
    while o < p[1]:
        out[o] = x[o] / n if n else _INF - _INF
        o += 1


def root(x, w, out, p):
    """out = sums x of powers to 1 / power

    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    exponent, o = 1.0 / p[4], p[0]
    while o < p[1]:
        out[o] = x[o] ** exponent
        o += 1


def log(x, w, out, p):
    """out = log(x)

    Access: as root
    """
    o = p[0]
    while o < p[1]:
        v = x[o]
        if v == 0.0:
            out[o] = -_INF
        else:
            out[o] = math.log(v) if v > 0.0 else _INF - _INF
        o += 1
