"""Sums of windows of float32 times one weight, in place of a convolution with one channel.

same      the weight, if all of a window's are the same
columns   adds up the columns of an output row's windows
results   adds these up, times the weight
averages  all of it, by calls; what has several weights is left to loops/block_pieces

p    the weight, 0 if they differ, and its exponent, as loops/block has them; items of a window;
     row of out; first item of x, H, W; kh, kw, strides y, x, dilations y, x, pads y, x (BIAS and
     items); items of a row of out, first item of out, its steps for a row and an item; exponent of
     the image; bits that a sum has behind those of its largest item

An image's items count in units of that many bits of its exponent. A sum is rounded to 29 bits
before it is multiplied, and the result to nearest. Written once, in the common subset of Python
and viper.
"""

from ._floats import weighed_sum
from ._hints import far, inline
from ._words import bit, set_at


@inline
def clip(n, at, step, size):
    """Return which of n taps from `at` on is the first one inside 0 .. size - 1, and how many are.

    at: room.
    """
    first = 0
    while n and at < 0:
        at += step
        first += 1
        n -= 1
    at += (n - 1) * step
    while n and at >= size:
        at -= step
        n -= 1
    return first, n, at


def averages(p: ptr32, w):
    """p and w as loops/block_pieces has them; behind p that of the loops here, from p[76] on;
    behind w: pieces, same, columns, results, this part of p

    Access: of the loops it calls
    """
    pieces, same, columns, results, part = w[16:21]
    whole, x, weights, exponents = w[5], w[10], w[11], w[13]
    scratch, out = w[14], w[15]
    same(weights, exponents, x, part)
    y, e = p[51], p[74]
    if p[76] == 0 or e == 255:
        pieces(whole, w)
        y = p[52]
    e = max(e, 1)
    i = set_at(p, 95, e)
    while y < p[52]:
        i = set_at(p, 79, y)
        columns(x, x, scratch, part)
        results(scratch, scratch, out, part)
        y += 1


def same(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """
    Access:
        requires p[2] > 0
        reads x[0 : p[2]]
        reads w[0 : 1]
        writes p[0 : 2]
    """
    v = x[0] & 0xFFFFFF
    for i in range(p[2]):
        if x[i] != v:
            v = 0
    i = 0
    p[i] = v - (1 << 23) if v > 1 << 23 else 0
    p[i + 1] = w[0]


def columns(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[4] : p[4] + p[5] * p[6]]
        writes out[0 : p[6]]
    """
    bias, n, width = 1 << 29, p[7], p[6]
    at = p[3] * p[9] + bias - p[13]
    first = at
    i, n, at = clip(n, at, p[11], p[5])
    first += i * p[11]
    most, bits = p[19], p[20] + 1
    for i in range(width):
        out[i] = 0
    i = p[4] + first * width
    while n:
        for k in range(width):
            v = x[i]
            i += 1
            e, m = (v >> 23) & 255, v & 0x7FFFFF
            if e:
                m = m | 0x800000
                e = most - e
            else:
                e = most - 1
            if e < 30:
                m = ((m << bits >> e) + 1) >> 1
                if (v >> 31) & 1:
                    m = 0 - m
                out[k] = out[k] + m
        i += (p[11] - 1) * width
        n -= 1


def results(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[15]
        reads x[0 : p[6]] if n
        writes out[p[16] + p[3] * p[17] : p[16] + p[3] * p[17] + (n - 1) * p[18] + 1] if n
    """
    top = bit(31)
    infinity = top - 1 - 0x7FFFFF
    weight = p[0] << 6
    exponent = p[19] + p[1] - p[20] - 122
    o, found = p[16] + p[3] * p[17], 0
    first = (1 << 29) - p[14]
    for column in far(range(p[15])):
        i, n = first, p[8]
        if i < 0 or i + (n - 1) * p[12] >= p[6]:
            k = i
            m, n, k = clip(n, k, p[12], p[6])
            i += m * p[12]
        total = 0
        while n:
            v = x[i]
            if (v >> 31) & 1:
                v = 0 - ((0 - v) & (top - 1))
            total += v
            i += p[12]
            n -= 1
        if total:
            v, most = total, exponent
            v = abs(v)
            if v >> 29:
                v = (v + 1) >> 1
                most += 1
            while v < 1 << 24:
                v = v << 4
                most -= 4
            while v < 1 << 28:
                v = v << 1
                most -= 1
            n = v >> 15
            v = v & 32767
            v = (n * (weight >> 15) << 2) + ((n * (weight & 32767) + v * (weight >> 15)) >> 13)
            if total < 0:
                v = 0 - v
            total = v
            total, most, n, v = weighed_sum(total, most, found, infinity, top)
        out[o] = total
        o += p[18]
        first += p[10]
