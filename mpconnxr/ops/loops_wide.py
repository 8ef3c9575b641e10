"""Products and sums of 16-bit integers with requantization. Written once, for Python and viper.

Items are uint16: signed ones are taken plus 32768 (flip), and so are their zero points.

wide_patches  im2col, as loops_patches has it; a record is two items, its sum (low, high), then
         C * kh * kw items. p as there; x and padding in items
wide_dots  out[p[5] + i * p[6] + m * p[7]], position i, channel m, p[3] positions, p[4] channels:

    x    records of 2 + K items, K = p[2]
    w    from p[1] on 12 bytes a channel: c as c1 * 2**15 + c0 (c1 an int32, c0 from 0 to 32767),
         and a word as of loops_qdot; from p[0] on rows of K bytes, weights plus 128
    p    as above; p[8] flip of out; zero point, least and greatest of out (BIAS + each)

    sum = sum_k(x[k] * (w[k] - 128)) + c
    a = sum * 2**f (f > 31: sum / 2**(f - 32)), limited to -2**30 .. 2**30
    g = a * M / 2**24, rounded;  q = g / 2**13, rounded to even;  out = q + zero point, limited

Up to 120 products go into a word, and those words into two of 15 bits and more: sums are exact.
wide_add  out = x * Ma + w * Mb, both minus their zero points, in units of 2**-p[5] steps:

    p    lo, hi: range of items; Ma, Mb (BIAS + each, 15 bits behind the point), flips of x, w and
         out together, bits behind the point; zero points of x, w (unsigned); those of out as above
wide_quantize  out = x / scale, rounded as float32 and then to even, plus the zero point, limited;
         x float32 as words, w the scale (positive), NaN counts as 0
    p    lo, hi: range of items; 0, mask of the bits without the sign, bits of infinity; zero point,
         least and greatest (BIAS + each)
wide_dequantize  out = (x - zero point) * scale, rounded to even; w and out float32 as words
    p    lo, hi: range of items; zero point (unsigned), flip
wide_max  out = the largest of each window
    p    planes, H, W, kh, kw, oh, ow, strides y, x, dilations y, x, flip, pads y, x (BIAS + each)
"""

import micropython

COMMON = True


@micropython.viper
def wide_patches(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    bias = 1 << 29
    n = 0
    oy = p[16]
    ox = p[17]
    left = p[20]
    while left:
        corner_y = p[22] + oy * p[11]
        corner_x = p[23] + ox * p[12]
        base = p[0] + (corner_y - bias) * p[13] + (corner_x - bias) * p[14]
        record = n
        n += 2
        total = 0
        row = 0
        while row < p[1] * p[2]:
            ky = row % p[2]
            i = base + row // p[2] * p[4] + ky * p[5]
            y = corner_y + ky * p[9]
            covered = y >= bias and y < bias + p[7]
            xx = corner_x
            end = n + p[3]
            while n < end:
                v = p[19]
                if covered and xx >= bias and xx < bias + p[8]:
                    v = x[i] ^ p[18]
                out[n] = v
                total += v
                i += p[6]
                xx += p[10]
                n += 1
            row += 1
        out[record] = total & 65535
        out[record + 1] = total >> 16
        ox += 1
        if ox == p[15]:
            ox = 0
            oy += 1
        left -= 1


@micropython.viper
def wide_dots(x: ptr16, w: ptr8, out: ptr16, p: ptr32):
    bias = 1 << 29
    first = 2
    at = p[5]
    n = p[3]
    while n:
        j = p[0]
        t = p[1]
        k = at
        m = p[4]
        while m:
            i = first
            end = first + p[2]
            high = 0
            low = 0
            while i < end:
                stop = i + 120
                if stop > end:
                    stop = end
                s = 0
                while i < stop - 1:  # with four at a time the loop over n is too long on Xtensa
                    s += x[i] * w[j] + x[i + 1] * w[j + 1]
                    i += 2
                    j += 2
                while i < stop:
                    s += x[i] * w[j]
                    i += 1
                    j += 1
                high += s >> 15
                low += s & 32767
            s = x[first - 2] | x[first - 1] << 16
            low += (w[t + 4] | w[t + 5] << 8) - ((s & 32767) << 7)
            high += (w[t] | w[t + 1] << 8 | w[t + 2] << 16) + (((w[t + 3] ^ 128) - 128) << 24)
            high += (low >> 15) - ((s >> 15) << 7)
            low = low & 32767
            f = w[t + 8] & 63
            r = f - 32
            if r > 15:
                v = high >> (r - 15)
            else:
                if r < 0:
                    r = 0
                v = 1 << (15 + r)
                if high >= v:
                    high = v - 1
                    low = 32767
                if high < 0 - v:
                    high = 0 - v
                    low = 0
                v = (high << (15 - r)) + (low >> r)
            r = bias << 1
            if f < 32:
                r = r >> f
            if v > r:
                v = r
            if v < 0 - r:
                v = 0 - r
            if f < 32:
                v = v << f
            s = w[t + 11] << 4 | w[t + 10] >> 4
            f = (w[t + 10] & 15) << 8 | w[t + 9]
            r = v & 32767
            v = v >> 15
            f = ((v * f) << 3) + r * s + ((r * f) >> 12) + 2048
            v = ((v * s) << 3) + (f >> 12)
            v = ((v + 4095 + ((v >> 13) & 1)) >> 13) + p[9] - bias
            if v < p[10] - bias:
                v = p[10] - bias
            if v > p[11] - bias:
                v = p[11] - bias
            out[k] = v & 65535
            k += p[7]
            t += 12
            m -= 1
        first += p[2] + 2
        at += p[6]
        n -= 1


@micropython.viper
def wide_add(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    bias = 1 << 29
    half = (1 << (p[5] - 1)) - 1
    i = p[0]
    while i < p[1]:
        a = (x[i] ^ p[4]) - p[6]
        b = (w[i] ^ p[4]) - p[7]
        m = p[2] - bias
        v = a * (m >> 15)
        low = a * ((m >> 3) & 4095) + ((a * (m & 7)) >> 3)
        m = p[3] - bias
        v += b * (m >> 15)
        low += b * ((m >> 3) & 4095) + ((b * (m & 7)) >> 3)
        v += (low + 2048) >> 12
        v = ((v + half + ((v >> p[5]) & 1)) >> p[5]) + p[8] - bias
        if v < p[9] - bias:
            v = p[9] - bias
        if v > p[10] - bias:
            v = p[10] - bias
        out[i] = v & 65535
        i += 1


@micropython.viper
def wide_max(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    bias = 1 << 29
    n = 0
    flip = p[11]
    end = p[0] * p[5] * p[6]
    while n < end:
        y0 = n // p[6] % p[5] * p[7] - p[12] + bias
        x0 = n % p[6] * p[8] - p[13] + bias
        plane = n // (p[5] * p[6]) * p[1]
        most = 0
        ky = 0
        while ky < p[3]:
            y = y0 + ky * p[9]
            if y >= 0 and y < p[1]:
                i = (plane + y) * p[2]
                kx = 0
                while kx < p[4]:
                    xx = x0 + kx * p[10]
                    if xx >= 0 and xx < p[2]:
                        v = x[i + xx] ^ flip
                        if v > most:
                            most = v
                    kx += 1
            ky += 1
        out[n] = most ^ flip
        n += 1


@micropython.viper
def wide_quantize(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    bias = 1 << 29
    i = p[2]
    s = (w[i] & 8388607) | 8388608
    d = ((w[i] >> 23) & 255) - 127
    i = p[0]
    while i < p[1]:
        v = x[i]
        e = (v >> 23) & 255
        a = (v & 8388607) | 8388608
        if a < s:
            a = a << 1
            e -= 1
        e = 150 + d - e  # bits of the quotient behind the point
        q = 0
        if v & p[3] > p[4] or e > 24:
            e = 1
        elif e < 6:
            q = 1 << 20
            e = 1
        else:
            n = 25
            while n:
                q = q << 1
                if a >= s:
                    a -= s
                    q += 1
                a = a << 1
                n -= 1
            q = (q >> 1) + (1 if q & 1 and (a or q & 2) else 0)
        q = (q + (1 << (e - 1)) - 1 + ((q >> e) & 1)) >> e
        if (v >> 31) & 1:
            q = 0 - q
        q += p[5] - bias
        if q < p[6] - bias:
            q = p[6] - bias
        if q > p[7] - bias:
            q = p[7] - bias
        out[i] = q & 65535
        i += 1


@micropython.viper
def wide_dequantize(x: ptr16, w: ptr32, out: ptr32, p: ptr32):
    i = 0
    s = w[i]
    i = p[0]
    while i < p[1]:
        m = (x[i] ^ p[3]) - p[2]
        n = ((s >> 23) & 255) + 14
        v = m
        if m < 0:
            m = 0 - m
        if m:
            while m < 32768:
                m = m << 1
                n -= 1
            rest = m * (s & 4095)
            m = m * (((s >> 12) & 2047) | 2048) + (rest >> 12)
            rest = rest & 4095
            if m >> 27:
                n += 1
                rest = (rest >> 1) | (rest & 1) | (m & 1) << 11
                m = m >> 1
            rest = rest | (m & 7) << 12
            m = m >> 3
            if rest > 16384 or (rest == 16384 and m & 1):
                m += 1
            m += n << 23
            if v < 0:
                v = 1  # 1 << 31 would be folded to an object
                m = m - (v << 30) - (v << 30)
        out[i] = m
        i += 1
