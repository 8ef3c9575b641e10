"""Block floating point behind the sums: limbs to floats. See loops/block for what they are.

Written once, in the common subset of Python and viper. What comes from a file may be anything:
shifts are bounded, nothing is indexed by it.
"""

from ._floats import put_limited
from ._hints import far
from ._words import bit, signed


def finish(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Sums to floats, rounded once to the nearest, ties to even; then cut to [low, high].

    x    from item p[0] on: for each position what loops/block_dot makes of it and M rows; behind
         each row of positions some that do not count
    w    from item p[3] on: what align made
    p    first item of x, positions in a row, M, first item of w, first item of out, its steps for
         a position, a channel and a row, rows, positions that do not count, low and high: sign and
         magnitude of each as bits; 1: out becomes the larger of what is there and the result

    Access:
        n, m, rows, more = p[1], p[2], p[8], p[9]
        reads x[p[0] : p[0] + (rows * (n + more) - more) * 3 * (m + 1)] if rows and n
        reads w[p[3] : p[3] + 4 * m] if rows and n
        updates out[p[4] : p[4] + (rows - 1) * p[7] + (n - 1) * p[5] + (m - 1) * p[6] + 1]
            if rows and n and m
    """
    i = p[0]
    sign = bit(31)
    low = signed(p[11], p[10])
    high = signed(p[13], p[12])
    position = 0
    while far(position != p[1] * p[8]):
        at = p[4] + position // p[1] * p[7] + position % p[1] * p[5]
        y0 = (x[i] & 1) << 23
        y1 = (x[i] >> 1) + ((x[i + 1] & 1) << 23)
        y2, j = x[i + 1] >> 1, p[3]
        for m in far(range(p[2], 0, -1)):
            i += 3
            e, t0, t1 = w[j + 3], w[j], w[j + 1]
            t2 = w[j + 2] - (1 << 29)
            if e < 1024:
                t0 += x[i] - y0
                t1 += x[i + 1] - y1
                t2 += x[i + 2] - y2
            e = (e & 1023) - 100  # that of the float if t2 holds its bits
            t1 += t0 >> 24
            t0 = t0 & 0xFFFFFF
            t2 += t1 >> 24
            t1, negative = t1 & 0xFFFFFF, 0
            if t2 < 0:
                negative, t0 = 1, 0 - t0
                t1 = (t0 >> 24) - t1
                t2, t0, t1 = (t1 >> 24) - t2, t0 & 0xFFFFFF, t1 & 0xFFFFFF
            if t2 >> 24:
                t0 = t0 | t1 & 255  # of these only counts whether any is not 0
                t1 = (t1 >> 8) | (t2 & 255) << 16
                t2 = t2 >> 8
                e += 8
            elif t2 == 0:
                t2, t1, t0 = t1, t0, 0
                e -= 24
                if t2 == 0:
                    t2, t1 = t1, 0
                    e -= 24 if t2 else 400
            s = 0
            if t2 < 1 << 12:
                t2, s = t2 << 12, 12
            if t2 < 1 << 18:
                t2 = t2 << 6
                s += 6
            while t2 < 1 << 23 and s < 24:
                t2 = t2 << 1
                s += 1
            t2, t1 = t2 | t1 >> (24 - s), (t1 << s) & 0xFFFFFF
            e -= s
            if e < 1:  # a denormal
                s = 1 - e if e > 0 - 24 else 25
                if s < 25:
                    t0 = t0 | t1
                    t1 = (t2 << (24 - s)) & 0xFFFFFF
                    t2 = t2 >> s
                else:
                    t2 = t1 = 0
                e = 0
            elif e < 255:
                t2 -= 1 << 23
            else:
                e, t2, t1 = 255, 0, 0
            if t1 > 1 << 23 or t1 == 1 << 23 and (t0 or t2 & 1):
                t2 += 1
            t2 += e << 23  # a carry out of the mantissa belongs into the exponent
            if negative:
                t2 = 0 - t2
            at, t2, v = put_limited(t2, low, high, sign, out, at, p)
            j += 4
        i += 3
        position += 1
        if position % p[1] == 0:
            i += p[9] * 3 * (p[2] + 1)
