"""Softmax, LogSoftmax and Hardmax along the middle axis of (outer, length, inner). Plain form.

Exponents are never positive, so nothing overflows. Sums run in blocks, for single floats. Inf and
NaN give numpy's results: NaN in their line.
"""

import math

# Parameters of softmax, log_softmax, hardmax
_LINE = 0  # first line [lines] 0..
_LINE_END = 1  # end, exclusive [lines] 0..
_LENGTH = const(2)  # of a line [elements] 1..
_INNER = const(3)  # size of the inner axis [elements] 1..

_BLOCK = 32


def softmax(x, w, out, p):
    """Compute lines.

    Access:
        size = length * inner
        low, high = line // inner * size, ((line_end - 1) // inner + 1) * size
        reads x[low : high] if line < line_end
        writes out[low : high] if line < line_end
    """
    length, inner = p[_LENGTH], p[_INNER]
    line = p[_LINE]
    while line < p[_LINE_END]:
        first = line // inner * length * inner + line % inner
        end = first + length * inner
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
                if v <= 0.0:  # not NaN; not above 0, as if a damaged file lets out overlap x
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
    length, inner = p[_LENGTH], p[_INNER]
    line = p[_LINE]
    while line < p[_LINE_END]:
        first = line // inner * length * inner + line % inner
        end = first + length * inner
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
    length, inner = p[_LENGTH], p[_INNER]
    line = p[_LINE]
    while line < p[_LINE_END]:
        i = line // inner * length * inner + line % inner
        end = i + length * inner
        most = _largest(x, i, end, inner)
        has_hit = False
        while i < end:
            v = x[i]
            hit = not has_hit and (v == most or v != v)
            has_hit = has_hit or hit
            out[i] = 1.0 if hit else 0.0
            i += inner
        line += 1


def _largest(x, i, end, stride):
    """Return the largest element; NaN if there is one. Few locals: the frame needs no heap."""
    best = x[i]
    while i < end:
        v = x[i]
        if v > best or v != v:
            best = v
        i += stride
    return best
