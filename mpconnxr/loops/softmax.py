"""Softmax and its relatives along the middle axis of (outer, n, inner). Plain form.

    p    lo, hi: range of lines; n, inner

Exponents are never positive, so nothing overflows. Sums run in blocks, for single floats. Infinite
and NaN inputs give what numpy gives: NaN in their line.
"""

import math

_BLOCK = 32


def softmax(x, w, out, p):
    """
    Access:
        n, inner = p[2], max(p[3], 1)
        requires n > 0
        low, high = p[0] // inner * n * inner, ((p[1] - 1) // inner + 1) * n * inner
        reads x[low : high] if p[0] < p[1]
        writes out[low : high] if p[0] < p[1]
    """
    n, inner = p[2], p[3]
    line = p[0]
    while line < p[1]:
        first = line // inner * n * inner + line % inner
        end = first + n * inner
        most = _largest(x, first, end, inner)
        total = 0.0
        i = first
        while i < end:
            stop = i + _BLOCK * inner
            if stop > end:
                stop = end
            part = 0.0
            while i < stop:
                v = x[i] - most
                if v <= 0.0:  # not NaN; not above 0, as where a damaged file lets out overlap x
                    v = math.exp(v)
                out[i] = v
                part += v
                i += inner
            total += part
        if total == 0.0:
            total = 1.0
        i = first
        while i < end:
            out[i] = out[i] / total
            i += inner
        line += 1


def log_softmax(x, w, out, p):
    """Access: as softmax"""
    n, inner = p[2], p[3]
    line = p[0]
    while line < p[1]:
        first = line // inner * n * inner + line % inner
        end = first + n * inner
        most = _largest(x, first, end, inner)
        total = 0.0
        i = first
        while i < end:
            stop = i + _BLOCK * inner
            if stop > end:
                stop = end
            part = 0.0
            while i < stop:
                part += math.exp(x[i] - most)
                i += inner
            total += part
        total = math.log(total)
        i = first
        while i < end:
            out[i] = x[i] - most - total
            i += inner
        line += 1


def hardmax(x, w, out, p):
    """Access: as softmax"""
    n, inner = p[2], p[3]
    line = p[0]
    while line < p[1]:
        i = line // inner * n * inner + line % inner
        end = i + n * inner
        most = _largest(x, i, end, inner)
        found = False
        while i < end:
            v = x[i]
            hit = not found and (v == most or v != v)
            found = found or hit
            out[i] = 1.0 if hit else 0.0
            i += inner
        line += 1


def _largest(x, i, end, stride):
    """NaN wins. A function of few names: its frame needs no heap."""
    best = x[i]
    while i < end:
        v = x[i]
        if v > best or v != v:
            best = v
        i += stride
    return best
