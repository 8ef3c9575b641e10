"""Weighted sums of neighbours along the middle axis of (outer, n, inner). Plain form.

w    weights (n_out, taps)
p    lo, hi: range of rows of the output; n_in, inner, n_out, taps, first tap of each of n_out
"""


def resample(x, w, out, p):
    """Access: as mix.mix32"""
    n_in, inner, n_out, taps = p[2], p[3], p[4], p[5]
    row = p[0]
    while row < p[1]:
        j = row % n_out
        first = (row // n_out * n_in + p[6 + j]) * inner
        at = row * inner
        end = at + inner
        while at < end:
            total = 0.0
            i = first
            t = j * taps
            stop = t + taps
            while t < stop:
                if w[t]:
                    total += w[t] * x[i]
                i += inner
                t += 1
            out[at] = total
            first += 1
            at += 1
        row += 1
