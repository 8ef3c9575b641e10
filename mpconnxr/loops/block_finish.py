"""Block floating point behind the sums: limbs to floats. See loops/block for what they are.

Written once, in the common subset of Python and viper. What comes from a file may be anything:
shifts are bounded, nothing is indexed by it.

Made from tools/loops/common/block_finish.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
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
    sign = 1
    sign = sign << 31
    low = p[11]
    if p[10]:
        low = 0 - low
    high = p[13]
    if p[12]:
        high = 0 - high
    position = 0
    while True:
        if position == p[1] * p[8]:
            break
        at = p[4] + position // p[1] * p[7] + position % p[1] * p[5]
        y0 = (x[i] & 1) << 23
        y1 = (x[i] >> 1) + ((x[i + 1] & 1) << 23)
        y2 = x[i + 1] >> 1
        j = p[3]
        m = p[2]
        while True:
            if m == 0:
                break
            i += 3
            e = w[j + 3]
            t0 = w[j]
            t1 = w[j + 1]
            t2 = w[j + 2] - (1 << 29)
            if e < 1024:
                t0 += x[i] - y0
                t1 += x[i + 1] - y1
                t2 += x[i + 2] - y2
            e = (e & 1023) - 100  # that of the float if t2 holds its bits
            t1 += t0 >> 24
            t0 = t0 & 0xFFFFFF
            t2 += t1 >> 24
            t1 = t1 & 0xFFFFFF
            negative = 0
            if t2 < 0:
                negative = 1
                t0 = 0 - t0
                t1 = (t0 >> 24) - t1
                t2 = (t1 >> 24) - t2
                t0 = t0 & 0xFFFFFF
                t1 = t1 & 0xFFFFFF
            if t2 >> 24:
                t0 = t0 | t1 & 255  # of these only counts whether any is not 0
                t1 = (t1 >> 8) | (t2 & 255) << 16
                t2 = t2 >> 8
                e += 8
            elif t2 == 0:
                t2 = t1
                t1 = t0
                t0 = 0
                e -= 24
                if t2 == 0:
                    t2 = t1
                    t1 = 0
                    e -= 24 if t2 else 400
            s = 0
            if t2 < 1 << 12:
                t2 = t2 << 12
                s = 12
            if t2 < 1 << 18:
                t2 = t2 << 6
                s += 6
            while t2 < 1 << 23 and s < 24:
                t2 = t2 << 1
                s += 1
            t2 = t2 | t1 >> (24 - s)
            t1 = (t1 << s) & 0xFFFFFF
            e -= s
            if e < 1:  # a denormal
                s = 1 - e if e > 0 - 24 else 25
                if s < 25:
                    t0 = t0 | t1
                    t1 = (t2 << (24 - s)) & 0xFFFFFF
                    t2 = t2 >> s
                else:
                    t2 = 0
                    t1 = 0
                e = 0
            elif e < 255:
                t2 -= 1 << 23
            else:
                e = 255
                t2 = 0
                t1 = 0
            if t1 > 1 << 23 or t1 == 1 << 23 and (t0 or t2 & 1):
                t2 += 1
            t2 += e << 23  # a carry out of the mantissa belongs into the exponent
            if negative:
                t2 = 0 - t2
            if t2 < low:
                t2 = low
            if t2 > high:
                t2 = high
            if p[14]:
                v = out[at]
                if (v >> 31) & 1:
                    v = 0 - (v & (sign - 1))
                if t2 < v:
                    t2 = v
            if t2 < 0:
                t2 = 0 - t2 - sign
            out[at] = t2
            at += p[6]
            j += 4
            m -= 1
        i += 3
        position += 1
        if position % p[1] == 0:
            i += p[9] * 3 * (p[2] + 1)
