"""Weighted sums of neighbours along the middle axis of three. Plain form.

x holds floats (outer, x_length, inner), out (outer, out_length, inner), w the weights of each of
out_length positions (out_length, taps). A weight of 0 excludes its element.
"""

from .mix import _END, _INNER, _OUT_LENGTH, _START, _TAP_STARTS, _TAPS, _X_LENGTH

# Parameters of resample: as mix.mix32


def resample(x, w, out, p):
    """Access: as mix.mix32"""
    x_length, inner, out_length, taps = p[_X_LENGTH], p[_INNER], p[_OUT_LENGTH], p[_TAPS]
    row = p[_START]
    while row < p[_END]:
        j = row % out_length
        first = (row // out_length * x_length + p[_TAP_STARTS + j]) * inner
        at = row * inner
        end = at + inner
        while at < end:
            total = 0.0
            i = first
            k = j * taps
            stop = k + taps
            while k < stop:
                if w[k]:
                    total += w[k] * x[i]
                i += inner
                k += 1
            out[at] = total
            first += 1
            at += 1
        row += 1
