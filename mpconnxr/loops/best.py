"""The k best of float32 in order, on the bits: see loops/top_k. For Python and viper."""

from ._hints import inline
from ._words import all_but_sign


@inline
def rank(v, mask, p):
    """Return more for a better v; the same for 0 and -0."""
    a = v & mask
    if (v >> 31) & 1 != p[5]:
        a = 0 - a
    return a


def best32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Along the middle axis of x (outer, n, inner); w: where they are; out: what they are.

    p    lo, hi: range of lines; n, inner, k (not 0), smallest (0 or 1), words of an index

    Access:
        n, inner, k = p[2], max(p[3], 1), p[4]
        requires k > 0
        low, high = p[0] // inner * inner, ((p[1] - 1) // inner + 1) * inner
        reads x[low * n : high * n] if p[0] < p[1]
        writes w[low * k * p[6] : high * k * p[6]] if p[0] < p[1]
        writes out[low * k : high * k] if p[0] < p[1]
    """
    mask = all_but_sign()
    line = p[0]
    while line < p[1]:
        i = line // p[3] * p[2] * p[3] + line % p[3]
        first = line // p[3] * p[4] * p[3] + line % p[3]
        end = first  # behind the worst one that is held
        worst = k = 0
        full = first + p[4] * p[3]
        while k < p[2]:
            v = x[i]
            a = rank(v, mask, p)
            if end < full or a > worst:
                if end < full:
                    end += p[3]
                o = end - p[3]
                b = a - 1
                while o > first and b < a:
                    u = out[o - p[3]]
                    b = rank(u, mask, p)
                    if b < a:
                        out[o] = u
                        w[o * p[6]] = w[(o - p[3]) * p[6]]
                        o -= p[3]
                out[o] = v
                o = o * p[6]
                w[o] = k
                if p[6] == 2:
                    while o < end * 2:  # all that has moved
                        w[o + 1] = 0
                        o += 2 * p[3]
                u = out[end - p[3]]
                worst = rank(u, mask, p)
            i += p[3]
            k += 1
        line += 1
