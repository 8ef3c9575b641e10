"""Tuples of indices to row numbers. Written once, in the common subset of Python and viper.

x    the indices as words: one each (int32) or two (int64, low word first);  out  int32
p    lo, hi: range of tuples; rank, T, words an index; a word of the loop's own, -1, 0, 0, 1 if an
     index was out of range; dims, strides; sizes, steps; the place of a tuple, by dim

An index out of range counts as 0; loops/gather judges it.
"""

from ._words import index_of


def offsets(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        rank, n, words = p[2:5]
        requires words == 1 or words == 2
        requires n > 0
        reads x[p[0] * n * words : p[1] * n * words]
        reads p[10 : 10 + 2 * rank + 2 * n]
        writes out[p[0] : p[1]]
        writes p[5 : 6]
        writes p[9 : 10]
        writes p[10 + 2 * rank + 2 * n : 10 + 3 * rank + 2 * n]
    """
    rank, n_t, words = p[2:5]
    own, count, sizes = 5, 9, 10 + 2 * rank
    places = sizes + 2 * n_t
    base, v = 0, p[0]
    for d in range(rank, 0, -1):
        at, n = places + d - 1, v % p[9 + d]
        v = v // p[9 + d]
        p[at] = n
        base += n * p[9 + rank + d]
    i, step, left = p[0] * n_t * words, 0, 1 << 29
    if rank:
        step = p[9 + 2 * rank]
        left = p[9 + rank] - p[places + rank - 1]
    end, size, scale = p[1], p[sizes], p[sizes + n_t]
    for k in range(p[0], end):
        v, sign, good, high = index_of(x, i, size, 6, words, own, count, p)
        total = base + v * scale
        i += words
        for t in range(sizes + 1, sizes + n_t):
            v, sign, good, high = index_of(x, i, p[t], 6, words, own, count, p)
            total += v * p[t + n_t]
            i += words
        out[k] = total
        base += step
        left -= 1
        if left == 0:
            left, d = p[9 + rank], rank - 1
            base -= left * step
            while d:
                d -= 1
                at = places + d
                n = p[at] + 1
                base += p[10 + rank + d]
                if n < p[10 + d]:
                    p[at], d = n, 0
                else:
                    p[at] = 0
                    base -= n * p[10 + rank + d]
