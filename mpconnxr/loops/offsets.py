"""Tuples of indices to row numbers. Written once, in the common subset of Python and viper.

x    the indices as words: one each (int32) or two (int64, low word first);  out  int32
p    lo, hi: range of tuples; rank, T, words an index; a word of the loop's own, -1, 0, 0, 1 if an
     index was out of range; dims, strides; sizes, steps; the place of a tuple, by dim

An index out of range counts as 0; loops/gather judges it.

Made from tools/loops/common/offsets.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
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
    rank = p[2]
    n_t = p[3]
    words = p[4]
    own = 5
    count = 9
    sizes = 10 + 2 * rank
    places = sizes + 2 * n_t
    base = 0
    v = p[0]
    d = rank
    while d:
        at = places + d - 1
        n = v % p[9 + d]
        v = v // p[9 + d]
        p[at] = n
        base += n * p[9 + rank + d]
        d -= 1
    i = p[0] * n_t * words
    step = 0
    left = 1 << 29
    if rank:
        step = p[9 + 2 * rank]
        left = p[9 + rank] - p[places + rank - 1]
    end = p[1]
    size = p[sizes]
    scale = p[sizes + n_t]
    k = p[0]
    while k < end:
        v = x[i]
        sign = (v >> 31) & 1
        good = 1
        if words == 2:
            high = x[i + 1]
            if high:
                good = sign if high == p[6] else 0
            elif sign:
                good = 0
        if sign:
            v += size
            p[own] = v
            v = p[own]
            if (v >> 31) & 1:
                good = 0
        if good == 0 or v >= size:
            p[count] = 1
            v = 0
        total = base + v * scale
        i += words
        t = sizes + 1
        while t < sizes + n_t:
            v = x[i]
            sign = (v >> 31) & 1
            good = 1
            if words == 2:
                high = x[i + 1]
                if high:
                    good = sign if high == p[6] else 0
                elif sign:
                    good = 0
            if sign:
                v += p[t]
                p[own] = v
                v = p[own]
                if (v >> 31) & 1:
                    good = 0
            if good == 0 or v >= p[t]:
                p[count] = 1
                v = 0
            total += v * p[t + n_t]
            i += words
            t += 1
        out[k] = total
        base += step
        left -= 1
        if left == 0:
            left = p[9 + rank]
            d = rank - 1
            base -= left * step
            while d:
                d -= 1
                at = places + d
                n = p[at] + 1
                base += p[10 + rank + d]
                if n < p[10 + d]:
                    p[at] = n
                    d = 0
                else:
                    p[at] = 0
                    base -= n * p[10 + rank + d]
        k += 1
