"""Block floating point before the sums: floats to mantissas. loops/block_finish is behind them.

A block of floats shares an exponent E, that of its largest one (biased, 1 to 254): its mantissas
are a = x / 2**(E - 149), rounded (ties away from 0) to 24 bits with the sign. Those of weights are
held as a + HALF, HALF = 2**23, so that they are never negative; what that adds to a sum of
products is HALF * sum(x). Sums, up to 80 bits wide, are *limbs*: two of 24 bits, and what is
above. Written once, in the common subset of Python and viper.

What comes from a file may be anything: shifts are bounded, nothing is indexed by it.
"""

from ._floats import bias_of_channel, largest_bits, unpack
from ._words import all_but_sign


def peak(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out[p[2]] = biased exponent of the largest of p[1] floats from p[0]; 255: inf or nan.

    Access:
        reads x[p[0] : p[0] + p[1]]
        writes out[p[2] : p[2] + 1]
    """
    i = p[0]
    end, most = i + p[1], 0
    mask = all_but_sign()
    most, i, v = largest_bits(most, x, i, end, mask)
    i = p[2]
    out[i] = most >> 23


def mantissas(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Columns of an image as mantissas, zero outside of it.

    A column is what an output row's kernel sees at one x: (C, kd, kh) items, one after another.
    p    first item of x, C, D, H, W, kd, kh, dilations z, y, corner z, y, x (BIAS + items, may lie
         outside); rows of columns, step of y; a row's columns: n0, step of x, n1, step of x;
         columns of out from row to row, first item of out, E

    Access:
        size, n = p[1] * p[5] * p[6], p[14] * p[16]
        reads x[p[0] : p[0] + p[1] * p[2] * p[3] * p[4]] if size and n and p[12]
        writes out[p[19] : p[19] + ((p[12] - 1) * p[18] + n) * size] if n and p[12]
    """
    bias, half, width = 1 << 29, 1 << 23, p[4]
    size = p[1] * p[5] * p[6]
    for item in range(size * p[12]):
        row = item % size
        y = p[10] + item // size * p[13] + row % p[6] * p[8]
        z = p[9] + row // p[6] % p[5] * p[7]
        first = 0 - 1
        if z >= bias and z < bias + p[2] and y >= bias and y < bias + p[3]:
            first = row // (p[5] * p[6]) * p[2] + z - bias
            first = p[0] + (first * p[3] + y - bias) * width
        at = p[19] + item // size * p[18] * size + row
        for n0 in range(p[14]):
            xx = p[11] + n0 * p[15]
            for n1 in range(p[16], 0, -1):
                m = 0
                if first >= 0 and xx >= bias and xx < bias + width:
                    v = x[first + xx - bias]
                    m, e = unpack(v)
                    if e:
                        m += half
                    else:
                        e = 1
                    e = p[20] - e
                    if e < 0 or e > 23:
                        m = 0
                    else:
                        m = (m + (1 << e)) >> (e + 1)
                        if m == half:
                            m = half - 1
                    if (v >> 31) & 1:
                        m = 0 - m
                out[at] = m
                at += size
                xx += p[17]


def align(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """What each channel adds to its sum: limbs of the bias, and the exponent.

    x    biases, as bits;  w  exponents
    out  channels of 4 words: limbs (the last one + 2**29), E + exponent; 1024 more: the bias is
         so large beside all products that the sum does not count
    p    first bias, items to the next one (0: there are none), first exponent, bytes to the next
         one, channels, first item of out, E

    Access:
        n = p[4]
        reads x[p[0] : p[0] + (n - 1) * p[1] + 1] if n and p[1]
        reads w[p[2] : p[2] + (n - 1) * p[3] + 1] if n
        writes out[p[5] : p[5] + 4 * n]
    """
    i, j, at = p[0], p[2], p[5]
    end = at + 4 * p[4]
    while at < end:
        m, s, e, i, j, v = bias_of_channel(x, i, w, j, p)
        if s > 52:
            if m:
                e += s - 52 + 1024
            s = 52
        if s < 0:
            m = m >> (0 - s) if s > 0 - 24 else 0
            s = 0
        c0 = c1 = 0
        if s < 48:
            r = 24 - s if s < 24 else 48 - s
            c1 = (m & ((1 << r) - 1)) << (24 - r)
            c2 = m >> r
            if s < 24:
                c0, c1, c2 = c1, c2, 0
        else:
            c2 = m << (s - 48)
        if (v >> 31) & 1:
            c0 = 0 - c0
            c1 = (c0 >> 24) - c1
            c2 = (c1 >> 24) - c2
        out[at] = c0 & 0xFFFFFF
        out[at + 1] = c1 & 0xFFFFFF
        out[at + 2] = c2 + (1 << 29)
        out[at + 3] = e
        at += 4


def fill(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """A float in rows of out. p: first item, items of a row, rows, step, sign and magnitude.

    Access:
        writes out[p[0] : p[0] + (p[2] - 1) * p[3] + p[1]] if p[1] and p[2]
    """
    sign = 1  # see peak
    v = p[5]
    if p[4]:
        v -= sign << 31
    for row in range(p[2]):
        i = p[0] + row * p[3]
        end = i + p[1]
        while i < end:
            out[i] = v
            i += 1
