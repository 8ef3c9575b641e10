"""Short block floating point around the sums: biases in their units, and sums to floats.

As loops/block and loops/block_finish, with mantissas of at most 15 bits (see loops/short_dot), so
that a sum S with its bias is a word: |S| < 2**30. Written once, in the common subset of Python and
viper.

What comes from a file may be anything: shifts are bounded, nothing is indexed by it.

Made from tools/loops/common/short.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def align(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """What each channel adds to its sum, and the exponent.

    x    biases, as bits;  w  exponents
    out  channels of 3 words: shift s, C + 2**30, E + exponent + s: the sum is (S >> s) + C
    p    first bias, items to the next one (0: there are none), first exponent, bytes to the next
         one, channels, first item of out, E

    Access:
        n = p[4]
        reads x[p[0] : p[0] + (n - 1) * p[1] + 1] if n and p[1]
        reads w[p[2] : p[2] + (n - 1) * p[3] + 1] if n
        writes out[p[5] : p[5] + 3 * n]
    """
    i = p[0]
    j = p[2]
    at = p[5]
    end = at + 3 * p[4]
    one = 1  # kept from the folding of constants, which makes big integers of them
    while at < end:
        v = 0
        if p[1]:
            v = x[i]
            i += p[1]
        m = v & 0x7FFFFF
        s = (v >> 23) & 255
        if s:
            m += 1 << 23
        else:
            s = 1
        e = p[6] + w[j]
        j += p[3]
        s += 148 - e
        if s < 0:
            m = (m + (1 << (0 - s - 1))) >> (0 - s) if s > 0 - 25 else 0
            s = 0
        elif s > 6 and m:  # a large bias: the sum counts in larger units
            m = m << 6
            s -= 6
            e += s
            if s > 31:
                s = 31
        else:
            m = m << s if s < 7 else 0
            s = 0
        if (v >> 31) & 1:
            m = 0 - m
        out[at] = s
        out[at + 1] = m + (one << 30)
        out[at + 2] = e
        at += 3


@micropython.viper
def finish(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Sums to floats, rounded to the nearest, ties to even; then cut to [low, high].

    x    from item p[0] on: for each position the sums of M rows; behind each row of positions
         some that do not count
    w    from item p[3] on: what align made
    p    as that of loops/block_finish

    Access:
        n, m, rows, more = p[1], p[2], p[8], p[9]
        reads x[p[0] : p[0] + (rows * (n + more) - more) * m] if rows and n
        reads w[p[3] : p[3] + 3 * m] if rows and n
        updates out[p[4] : p[4] + (rows - 1) * p[7] + (n - 1) * p[5] + (m - 1) * p[6] + 1]
            if rows and n and m
    """
    i = p[0]
    sign = 1  # kept from the folding of constants, which makes big integers of them
    half = sign << 30
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
        j = p[3]
        m = p[2]
        while True:
            if m == 0:
                break
            v = ((x[i] - half) >> w[j]) + (w[j + 1] - half)
            e = w[j + 2] - 141  # that of the float if bit 30 is the sum's first
            n = v
            if v < 0:
                n = 0 - v
            if n >> (15) == 0:
                n = n << (16)
                e -= 16
            if n >> (23) == 0:
                n = n << (8)
                e -= 8
            if n >> (27) == 0:
                n = n << (4)
                e -= 4
            if n >> (29) == 0:
                n = n << (2)
                e -= 2
            if n >> (30) == 0:
                n = n << (1)
                e -= 1
            k = 7
            if e < 1 or n == 0:  # a denormal
                k = 8 - e if e > 0 - 24 and n else 31
                e = 1
                if k == 31:
                    n = 0
            t = n >> k
            n = (n & ((1 << k) - 1)) - (1 << (k - 1))
            if n > 0 or n == 0 and t & 1:
                t += 1
            if e > 254:
                e = 256
                t = 0
            t += (e - 1) << 23  # a carry out of the mantissa belongs into the exponent
            if v < 0:
                t = 0 - t
            if t < low:
                t = low
            if t > high:
                t = high
            if p[14]:
                v = out[at]
                if (v >> 31) & 1:
                    v = 0 - (v & (sign - 1))
                if t < v:
                    t = v
            if t < 0:
                t = 0 - t - sign
            out[at] = t
            at += p[6]
            j += 3
            i += 1
            m -= 1
        position += 1
        if position % p[1] == 0:
            i += p[9] * p[2]
