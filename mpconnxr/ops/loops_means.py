"""Means of windows of bytes in float32, then bytes again. Written once, for Python and viper.

choose    lists the windows whose mean is in the middle between two bytes
means     computes those of the list: twice the window's number, plus 1 if the mean is negative
bytes_of  makes bytes of them

    x    bytes: planes (H, W) from p[0] on, one after another
    w    words: 256 floats, what a byte this far from the zero point stands for; 255 levels as
         loops_levels takes them; the list, of up to 64 windows; their means, without the sign
    out  choose, means: what is w; bytes_of: bytes, planes (oh, ow) from p[1] on
    p    x first, out first, planes, H, W, kh, kw, strides y, x, pads y, x, oh, ow; items a sum is
         divided by, or 0 for those inside x; 1 where the sums of columns are added up, 0 where all
         items are, row after row; zero point, flip, negative levels, least byte of out; the ratio
         of the scales as a fraction, or 0, 1 if it is none: then all are listed; next window
         (choose goes on from there), windows in the list

Floats by their bits: 2**23 .. 2**24 (here a, m) times a power of two (e, n), with a sign (s, r).
Sums and the quotient are rounded to even as IEEE 754 has them.
"""

import micropython

COMMON = True


@micropython.viper
def choose(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    window = p[21]
    listed = 0
    while window < p[2] * p[11] * p[12] and listed < 64:
        top = window // p[12] % p[11] * p[7] - p[9]
        bottom = top + p[5]
        if top < 0:
            top = 0
        if bottom > p[3]:
            bottom = p[3]
        left = window % p[12] * p[8] - p[10]
        right = left + p[6]
        if left < 0:
            left = 0
        if right > p[4]:
            right = p[4]
        count = (bottom - top) * (right - left)
        total = 0 - count * p[15]
        row = p[0] + (window // (p[11] * p[12]) * p[3] + top) * p[4]
        while top < bottom:
            i = row + left
            stop = row + right
            while i < stop:
                total += x[i] ^ p[16]
                i += 1
            row += p[4]
            top += 1
        if p[13]:
            count = p[13]
        if total < 0:
            total = 0 - total
        count = count * p[20]
        if p[19] == 0 or 2 * total * p[19] % (2 * count) == count:
            out[511 + listed] = window
            listed += 1
        window += 1
    i = 21
    p[i] = window
    p[i + 1] = listed


@micropython.viper
def means(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    listed = 0
    while True:  # a condition here would be a branch farther than Xtensa's reach
        if listed == p[22]:
            return
        window = w[511 + listed]
        top = window // p[12] % p[11] * p[7] - p[9]
        bottom = top + p[5]
        if top < 0:
            top = 0
        if bottom > p[3]:
            bottom = p[3]
        left = window % p[12] * p[8] - p[10]
        right = left + p[6]
        if left < 0:
            left = 0
        if right > p[4]:
            right = p[4]
        count = (bottom - top) * (right - left)
        # Lines of `length` items, `between` them; `stride` from a line to the next.
        line = p[0] + (window // (p[11] * p[12]) * p[3] + top) * p[4] + left
        lines = bottom - top
        length = right - left
        between = 1
        stride = p[4]
        if p[14]:
            length = lines
            lines = right - left
            between = stride
            stride = 1
        a = 0
        e = 0
        s = 0
        total = 0
        total_e = 0
        total_s = 0
        while lines:
            i = line
            k = 0
            while k <= length:
                if k < length:
                    m = (x[i] ^ p[16]) - p[15]
                    r = 0
                    if m < 0:
                        m = 0 - m
                        r = 1
                    m = w[m]
                    n = m >> 23
                    if m:
                        m = (m & 8388607) | 8388608
                    i += between
                else:
                    m = total
                    n = total_e
                    r = total_s
                k += 1
                if not a:
                    a = m
                    e = n
                    s = r
                elif m:
                    # The sum, with three more bits; the last one stands for all that is lost.
                    m = m << 3
                    a = a << 3
                    if e < n:
                        t = a
                        a = m
                        m = t
                        t = e
                        e = n
                        n = t
                        t = s
                        s = r
                        r = t
                    t = e - n
                    if t > 27:
                        t = 27
                    n = m & ((1 << t) - 1)
                    m = m >> t
                    if n:
                        m = m | 1
                    if r == s:
                        a += m
                    else:
                        a -= m
                        if a < 0:
                            a = 0 - a
                            s = r
                    while a >> 27:
                        a = (a >> 1) | (a & 1)
                        e += 1
                    while a and a < 67108864:
                        a = a << 1
                        e -= 1
                    n = a & 7
                    a = a >> 3
                    if n + (a & 1) > 4:
                        a += 1
            if p[14]:
                total = a
                total_e = e
                total_s = s
                a = 0
            line += stride
            lines -= 1
        if p[14]:
            a = total
            e = total_e
            s = total_s
        if p[13]:
            count = p[13]
        while count & 1 == 0:
            count = count >> 1
            e -= 1
        if a and count > 1:
            m = a // count
            n = a - m * count
            e += 3
            while m < 67108864:
                m = m << 1
                n = n << 1
                e -= 1
                if n >= count:
                    n -= count
                    m += 1
            if n:
                m = m | 1
            a = m >> 3
            if (m & 7) + (a & 1) > 4:
                a += 1
        m = a + ((e - 1) << 23)
        if e < 1 or not a:
            m = 0
        out[511 + listed] = 2 * window + s
        out[575 + listed] = m
        listed += 1


@micropython.viper
def bytes_of(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    listed = 0
    while listed < p[22]:
        m = w[575 + listed]
        if w[511 + listed] & 1:
            k = 0
            i = p[17]
            while k < i:
                n = (k + i) >> 1
                if w[256 + n] < m:
                    i = n
                else:
                    k = n + 1
        else:
            k = p[17]
            i = 255
            while k < i:
                n = (k + i) >> 1
                if w[256 + n] > m:
                    i = n
                else:
                    k = n + 1
        out[p[1] + (w[511 + listed] >> 1)] = (k + p[18]) & 255
        listed += 1
