"""Tuples of indices to row numbers. Plain form.

x    the indices;  out  int32
w    the step's name, ASCII
p    lo, hi: range of tuples; rank, T; dims, strides; sizes, steps
InputError after the last tuple for an index out of range.
"""

from ..ops._refuse import refuse


def offsets(x, w, out, p):
    """
    Access:
        rank, n = p[2:4]
        reads x[p[0] * n : p[1] * n]
        reads p[4 : 4 + 2 * rank + 2 * n]
        writes out[p[0] : p[1]]
    """
    rank, n_t = p[2], p[3]
    sizes = 4 + 2 * rank
    good = True
    k = p[0]
    while k < p[1]:
        total = 0
        rest = k
        d = rank
        while d:
            d -= 1
            total += rest % p[4 + d] * p[4 + rank + d]
            rest //= p[4 + d]
        t = 0
        while t < n_t:
            v = x[k * n_t + t]
            if v < 0:
                v += p[sizes + t]
            if 0 <= v < p[sizes + t]:
                total += v * p[sizes + n_t + t]
            else:
                good = False
            t += 1
        out[k] = total
        k += 1
    if not good:
        refuse(w, "an index is out of range")
