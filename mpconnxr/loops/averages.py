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

Made from tools/loops/common/averages.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def averages(p: ptr32, w):
    """p and w as loops/block_pieces has them; behind p that of the loops here, from p[76] on;
    behind w: pieces, same, columns, results, this part of p

    Access: of the loops it calls
    """
    pieces = w[16]
    same = w[17]
    columns = w[18]
    results = w[19]
    part = w[20]
    whole = w[5]
    x = w[10]
    weights = w[11]
    exponents = w[13]
    scratch = w[14]
    out = w[15]
    same(weights, exponents, x, part)
    y = p[51]
    e = p[74]
    if p[76] == 0 or e == 255:
        pieces(whole, w)
        y = p[52]
    if e < 1:
        e = 1
    i = 95
    p[i] = e
    while y < p[52]:
        i = 79
        p[i] = y
        columns(x, x, scratch, part)
        results(scratch, scratch, out, part)
        y += 1


@micropython.viper
def same(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """
    Access:
        requires p[2] > 0
        reads x[0 : p[2]]
        reads w[0 : 1]
        writes p[0 : 2]
    """
    v = x[0] & 0xFFFFFF
    i = 0
    while i < p[2]:
        if x[i] != v:
            v = 0
        i += 1
    i = 0
    p[i] = v - (1 << 23) if v > 1 << 23 else 0
    p[i + 1] = w[0]


@micropython.viper
def columns(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[4] : p[4] + p[5] * p[6]]
        writes out[0 : p[6]]
    """
    bias = 1 << 29
    n = p[7]
    width = p[6]
    at = p[3] * p[9] + bias - p[13]
    first = at
    i = 0
    while n and at < 0:
        at += p[11]
        i += 1
        n -= 1
    at += (n - 1) * p[11]
    while n and at >= p[5]:
        at -= p[11]
        n -= 1
    first += i * p[11]
    most = p[19]
    bits = p[20] + 1
    i = 0
    while i < width:
        out[i] = 0
        i += 1
    i = p[4] + first * width
    while n:
        k = 0
        while k < width:
            v = x[i]
            i += 1
            e = (v >> 23) & 255
            m = v & 0x7FFFFF
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
            k += 1
        i += (p[11] - 1) * width
        n -= 1


@micropython.viper
def results(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[15]
        reads x[0 : p[6]] if n
        writes out[p[16] + p[3] * p[17] : p[16] + p[3] * p[17] + (n - 1) * p[18] + 1] if n
    """
    top = 1
    top = top << 31
    infinity = top - 1 - 0x7FFFFF
    weight = p[0] << 6
    exponent = p[19] + p[1] - p[20] - 122
    o = p[16] + p[3] * p[17]
    found = 0
    first = (1 << 29) - p[14]
    column = 0
    while True:
        if column >= p[15]:
            break
        i = first
        n = p[8]
        if i < 0 or i + (n - 1) * p[12] >= p[6]:
            k = i
            m = 0
            while n and k < 0:
                k += p[12]
                m += 1
                n -= 1
            k += (n - 1) * p[12]
            while n and k >= p[6]:
                k -= p[12]
                n -= 1
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
            v = total
            most = exponent
            if v < 0:
                v = 0 - v
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
            if found:
                total = infinity
                if found == 2:
                    total -= top
                elif found > 2:
                    total = infinity | 0x400000
            elif total:
                v = 0
                if total < 0:
                    total = 0 - total
                    v = 1
                most += 1
                if total >> 30:
                    total = total >> 1
                    most += 1
                while total < 1 << 24:
                    total = total << 5
                    most -= 5
                while total < 1 << 29:
                    total = total << 1
                    most -= 1
                n = 6
                if most < 1:
                    n = 7 - most
                    most = 1
                    if n > 30:
                        n = 30
                        total = 0
                total = ((total + (1 << (n - 1))) >> n) + ((most - 1) << 23)
                if most > 254 or total > infinity:
                    total = infinity
                if v:
                    total -= top
        out[o] = total
        o += p[18]
        first += p[10]
        column += 1
