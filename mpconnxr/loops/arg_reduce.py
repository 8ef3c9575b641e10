"""Position of the largest or smallest item along the middle axis of (outer, n, inner). Plain form.

p    lo, hi: range of outputs; n, inner, smallest (0 or 1), last of equal ones (0 or 1)
"""


def arg_reduce(x, w, out, p):
    """
    Access:
        n, inner = p[2], max(p[3], 1)
        requires n > 0
        low, high = p[0] // inner * n * inner, ((p[1] - 1) // inner + 1) * n * inner
        reads x[low : high] if p[0] < p[1]
        writes out[p[0] : p[1]]
    """
    n, inner, smallest, last = p[2], p[3], p[4], p[5]
    o = p[0]
    while o < p[1]:
        i = o // inner * n * inner + o % inner
        best = x[i]
        at = 0
        k = 1
        while k < n and best == best:  # nothing is above a NaN
            i += inner
            v = x[i]
            if v != v or (v < best if smallest else v > best) or (last and v == best):
                best = v
                at = k
            k += 1
        out[o] = at
        o += 1
