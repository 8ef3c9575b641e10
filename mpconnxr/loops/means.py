"""Means of windows in float32. Written once, for Python and viper.

choose    makes bytes of the means of bytes, but of those in the middle between two, which it lists
spans     finds the items of the windows of the list
sums      adds them up
means     divides these sums by their items
rounds    all of these and one of loops/mean_bytes behind them, by calls, to the last window

    x    items of p[29] bytes: planes (H, W) from item p[0] on, one after another
    w    words: the list, of up to 64 windows; 64 words from 64 on, of spans: the first byte, of
         sums and means: their mantissas; 64 words from 128 on, of spans: lines, items of each (13
         bits) and beside them (2 bits), of the others: twice their exponents, plus 1 if they are
         negative (of sums also their items, times 1024)
    out  choose: items, planes (oh, ow) from item p[1] on; spans, sums, means: what is w
    p    x first, out first, planes, H, W, kh, kw, strides y, x, pads y, x, oh, ow; items a sum is
         divided by, or 0 for those inside x; order of the sums; zero point, flip, two of
         loops/mean_bytes; the ratio of the scales as a fraction, or 0, 1 if it is none: then all
         are listed; next window (choose goes on from there), windows in the list; upper and lower
         12 bits of the mantissa of x_scale, its exponent; mantissa and exponent of the other
         scale, its zero point; bytes of an item, the greatest one

Order 0: items row after row. 1: the sums of columns. 2, for a window that is a plane: four sums
of each fourth item, a, b, c and d, as (a + c) + (b + d), then the items that are left. An item
stands for its distance from the zero point, times x_scale.

Floats by their bits: 2**23 .. 2**24 (here a, m) times a power of two (e, n), with a sign (s, r).
Products, sums and quotients are rounded to even as IEEE 754 has them.
"""

from ._bytes import next_window
from ._floats import add
from ._words import set_at, split_sign, swap


def rounds(p: ptr32, w):
    """w: loops choose, spans, sums, means, then one of loops/mean_bytes; p; the list; x and out as
    choose takes them; x as sums does; levels, and out as the last loop does

    Access: of the loops it calls
    """
    choose, spans, sums, means, finish = w[:5]
    whole, found, seen, chosen, x = w[5:10]
    levels, out = w[10], w[11]
    while p[21] < p[2] * p[11] * p[12]:
        choose(seen, found, chosen, whole)
        spans(found, found, found, whole)
        sums(x, found, found, whole)
        means(found, found, found, whole)
        finish(levels, found, out, whole)


def choose(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[2] * p[3] * p[4]]
        writes w[0 : min(64, p[2] * p[11] * p[12])]
        writes out[p[1] : p[1] + p[2] * p[11] * p[12]]
        writes p[21 : 23]
    """
    window, listed = p[21], 0
    left = window % p[12] * p[8] - p[10]
    top = window // p[12] % p[11] * p[7] - p[9]
    row = p[0] + window // (p[11] * p[12]) * p[3] * p[4]
    past = p[12] * p[8] - p[10]
    while window < p[2] * p[11] * p[12] and listed < 64:
        y = top if top > 0 else 0
        bottom = min(top + p[5], p[3])
        first = left if left > 0 else 0
        right = min(left + p[6], p[4])
        count = (bottom - y) * (right - first)
        total = 0 - count * p[15]
        while y < bottom:
            i = row + y * p[4]
            stop = i + right
            i += first
            while i < stop:
                total += x[i] ^ p[16]
                i += 1
            y += 1
        if p[13]:
            count = p[13]
        count = count * p[20]
        i = total if total > 0 else 0 - total
        i = 2 * i * p[19] + count
        stop = i // (2 * count)
        if p[19] == 0 or stop * 2 * count == i:
            w[listed] = window
            listed += 1
        else:
            i = min(max(p[28] + (stop if total > 0 else 0 - stop), 0), 255)
            out[p[1] + window] = i ^ p[16]
        window, left, top, row = next_window(window, left, top, row, past, p)
    i = set_at(p, 21, window)
    p[i + 1] = listed


def spans(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[22]
        reads w[0 : n]
        writes out[64 : 64 + n]
        writes out[128 : 128 + n]
    """
    for listed in range(p[22]):
        window = w[listed]
        top = window // p[12] % p[11] * p[7] - p[9]
        bottom = top + p[5]
        top = max(top, 0)
        bottom = min(bottom, p[3])
        left = window % p[12] * p[8] - p[10]
        right = left + p[6]
        left = max(left, 0)
        right = min(right, p[4])
        lines, length = bottom - top, right - left
        rest = lines * length
        if p[14] == 1:
            lines, length = length, bottom - top
        elif p[14] == 2:
            lines, length = 4, rest >> 2
        out[64 + listed] = p[29] * (p[0] + (window // (p[11] * p[12]) * p[3] + top) * p[4] + left)
        out[128 + listed] = ((lines << 13) + length) << 2 | (rest & 3)


def sums(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[22]
        given spans has filled w from the list
        reads x[p[0] * p[29] : (p[0] + p[2] * p[3] * p[4]) * p[29]] if n
        reads w[64 : 64 + n]
        reads w[128 : 128 + n]
        writes out[64 : 64 + n]
        writes out[128 : 128 + n]
    """
    listed = 0
    while True:  # a condition here would be a branch farther than Xtensa's reach
        if listed == p[22]:
            return
        line = w[64 + listed]
        length = (w[128 + listed] >> 2) & 8191
        lines, rest = w[128 + listed] >> 15, w[128 + listed] & 3
        count, between = lines * length, p[29]
        stride = p[4] * between
        if p[14] == 1:
            stride = between
            between = p[4] * stride
        beyond = line
        if p[14] == 2:
            stride, between = 2 * between, 4 * between
            beyond = line + length * between
            count += rest
        a = e = s = total = held = of_total = of_held = 0
        while lines:
            i, k, last = line, 0, length
            if p[14] == 2 and lines == 1:
                last = length + 1 + rest
            while k <= last:
                m, n = 0, of_total
                if k == length:
                    m = total
                elif k == length + 1:
                    m, n, i = held, of_held, beyond
                    between = p[29]
                else:
                    m = x[i]
                    if p[29] > 1:
                        m += x[i + 1] << 8
                    i += between
                    m = (m ^ p[16]) - p[15]
                    m, n = split_sign(m)
                    t = m * p[24]
                    m, t, r = m * p[23] + (t >> 12), t & 4095, 0
                    while m >> (12 + r):
                        r += 1
                    n += (p[25] + r) << 1
                    if r > 12:
                        t += (m & ((1 << (r - 12)) - 1)) << 12
                        m = m >> (r - 12)
                    else:
                        m = (m << (12 - r)) + (t >> r)
                        t = t & ((1 << r) - 1)
                    if 2 * t + (m & 1) > 1 << r:
                        m += 1
                r, n = n & 1, n >> 1
                k += 1
                if not a:
                    a, e, s = m, n, r
                elif m:
                    # The sum, with three more bits; the last one stands for all that is lost.
                    m, a = m << 3, a << 3
                    if e < n:
                        a, m, t = swap(a, m)
                        e, n, t = swap(e, n)
                        s, r, t = swap(s, r)
                    t = min(e - n, 27)
                    a, e, s, m, n = add(a, e, s, m, t, r)
            lines -= 1
            line += stride
            if p[14] and lines:
                total, of_total, a = a, 2 * e + s, 0
                if p[14] == 2:
                    stride = p[29] - stride
                    if lines == 2:
                        held, of_held, total = total, of_total, 0
        if p[13]:
            count = p[13]
        out[64 + listed] = a
        out[128 + listed] = 1024 * count + 2 * e + s
        listed += 1


def means(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[22]
        reads w[64 : 64 + n]
        reads w[128 : 128 + n]
        writes out[64 : 64 + n]
        writes out[128 : 128 + n]
    """
    for listed in range(p[22]):
        a, count = w[64 + listed], w[128 + listed] >> 10
        e = w[128 + listed] & 1023
        while count & 1 == 0:
            count = count >> 1
            e -= 2
        if a and count > 1:
            m = a // count
            n = a - m * count
            e += 6
            while m < 67108864:
                m, n = m << 1, n << 1
                e -= 2
                if n >= count:
                    n -= count
                    m += 1
            if n:
                m = m | 1
            a = m >> 3
            if (m & 7) + (a & 1) > 4:
                a += 1
        out[64 + listed] = a
        out[128 + listed] = e
