"""Tuples of indices to row numbers. Plain form.

x    the indices;  out  int32
p    lo, hi: range of tuples; 1 where an index was out of range (it is taken as 0); rank, T;
     dims, strides; sizes, steps
"""


def offsets(x, w, out, p):
    """
    Access:
        rank, n = p[3:5]
        reads x[p[0] * n : p[1] * n]
        reads p[5 : 5 + 2 * rank + 2 * n]
        writes out[p[0] : p[1]]
        writes p[2 : 3]
    """
    rank, n_t = p[3], p[4]
    sizes = 5 + 2 * rank
    k = p[0]
    while k < p[1]:
        total = 0
        rest = k
        d = rank
        while d:
            d -= 1
            total += rest % p[5 + d] * p[5 + rank + d]
            rest //= p[5 + d]
        t = 0
        while t < n_t:
            v = x[k * n_t + t]
            if v < 0:
                v += p[sizes + t]
            if 0 <= v < p[sizes + t]:
                total += v * p[sizes + n_t + t]
            else:
                p[2] = 1
            t += 1
        out[k] = total
        k += 1
