"""Short block floating point around the sums: biases in their units, and sums to floats.

As loops/block and loops/block_finish, with mantissas of at most 15 bits (see loops/short_dot), so
that a sum S with its bias is a word: |S| < 2**30. Written once, in the common subset of Python and
viper.

What comes from a file may be anything: shifts are bounded, nothing is indexed by it.
"""

from ._floats import bias_of_channel, put_limited
from ._hints import far, unroll
from ._words import signed


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
    i, j, at = p[0], p[2], p[5]
    end = at + 3 * p[4]
    one = 1  # kept from the folding of constants, which makes big integers of them
    while at < end:
        m, s, e, i, j, v = bias_of_channel(x, i, w, j, p)
        if s < 0:
            m = (m + (1 << (0 - s - 1))) >> (0 - s) if s > 0 - 25 else 0
            s = 0
        elif s > 6 and m:  # a large bias: the sum counts in larger units
            m = m << 6
            s -= 6
            e += s
            s = min(s, 31)
        else:
            m = m << s if s < 7 else 0
            s = 0
        if (v >> 31) & 1:
            m = 0 - m
        out[at] = s
        out[at + 1] = m + (one << 30)
        out[at + 2] = e
        at += 3


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
    half, sign = sign << 30, sign << 31
    low = signed(p[11], p[10])
    high = signed(p[13], p[12])
    position = 0
    while far(position != p[1] * p[8]):
        at = p[4] + position // p[1] * p[7] + position % p[1] * p[5]
        j = p[3]
        for m in far(range(p[2], 0, -1)):
            v = ((x[i] - half) >> w[j]) + (w[j + 1] - half)
            e = w[j + 2] - 141  # that of the float if bit 30 is the sum's first
            n = v
            if v < 0:
                n = 0 - v
            for b in unroll(4, -1, -1):
                if n >> (31 - (1 << b)) == 0:
                    n = n << (1 << b)
                    e -= 1 << b
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
                e, t = 256, 0
            t += (e - 1) << 23  # a carry out of the mantissa belongs into the exponent
            if v < 0:
                t = 0 - t
            at, t, v = put_limited(t, low, high, sign, out, at, p)
            j += 3
            i += 1
        position += 1
        if position % p[1] == 0:
            i += p[9] * p[2]
