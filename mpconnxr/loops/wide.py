"""Patches, sums, products and borders of 16-bit integers. Written once, for Python and viper.

Items are uint16: signed ones are taken plus 32768 (flip), and so are their zero points.

wide_patches  im2col, as loops/patches has it; a record is two items, its sum (low, high), then
         C * kh * kw items. p as there; x and padding in items
wide_add  out = x * Ma + w * Mb, both minus their zero points, in units of 2**-p[5] steps:

    p    lo, hi: range of items; Ma, Mb (BIAS + each, 15 bits behind the point), flips of x, w and
         out together, bits behind the point; zero points of x, w (unsigned); zero point, least
         and greatest of out (BIAS + each)
wide_mul  out = (x - 32768) * (w - 32768) * M * 2**f, rounded as wide_dots does with a sum

    p    lo, hi: range of items; f, zero point, least and greatest of out (BIAS + each), what is
         added before a shift to the right, flip, upper and lower 12 bits of M
wide_quantize  out = x / scale, rounded as float32 and then to even, plus the zero point, limited;
         x float32 as words, w the scale (positive), NaN counts as 0
    p    lo, hi: range of items; 0, mask of the bits without the sign, bits of infinity; zero
         point, least and greatest (BIAS + each)
wide_dequantize  out = (x - zero point) * scale, rounded to even; w and out float32 as words
    p    lo, hi: range of items; zero point (unsigned), flip
wide_max  out = the largest of each window
    p    planes, H, W, kh, kw, oh, ow, strides y, x, dilations y, x, flip, pads y, x (BIAS + each)
"""

from ._bytes import next_place
from ._words import quotient, signed


def wide_patches(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """
    Access:
        k = p[1] * p[2] * p[3]
        last = (p[1] - 1) * p[4] + (p[7] - 1) * p[13] + (p[8] - 1) * p[14]
        s = (p[2] - 1) * (p[5] - p[9] * p[13]), (p[3] - 1) * (p[6] - p[10] * p[14])
        reads x[p[0] + sum(min(v, 0) for v in s) : p[0] + last + sum(max(v, 0) for v in s) + 1]
            if k and p[20]
        writes out[0 : p[20] * (2 + k)]
    """
    bias, n, oy = 1 << 29, 0, p[16]
    ox = p[17]
    for left in range(p[20], 0, -1):
        corner_y, corner_x = p[22] + oy * p[11], p[23] + ox * p[12]
        base = p[0] + (corner_y - bias) * p[13] + (corner_x - bias) * p[14]
        record = n
        n += 2
        total = 0
        for row in range(p[1] * p[2]):
            ky = row % p[2]
            i = base + row // p[2] * p[4] + ky * p[5]
            y = corner_y + ky * p[9]
            covered = y >= bias and y < bias + p[7]
            xx, end = corner_x, n + p[3]
            while n < end:
                v = p[19]
                if covered and xx >= bias and xx < bias + p[8]:
                    v = x[i] ^ p[18]
                out[n] = v
                total += v
                i += p[6]
                xx += p[10]
                n += 1
        out[record] = total & 65535
        out[record + 1] = total >> 16
        ox, oy = next_place(ox, oy, p)


def wide_add(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        reads w[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    bias, half = 1 << 29, (1 << (p[5] - 1)) - 1
    for i in range(p[0], p[1]):
        a, b, m = (x[i] ^ p[4]) - p[6], (w[i] ^ p[4]) - p[7], p[2] - bias
        v = a * (m >> 15)
        low = a * ((m >> 3) & 4095) + ((a * (m & 7)) >> 3)
        m = p[3] - bias
        v += b * (m >> 15)
        low += b * ((m >> 3) & 4095) + ((b * (m & 7)) >> 3)
        v += (low + 2048) >> 12
        v = max(((v + half + ((v >> p[5]) & 1)) >> p[5]) + p[8] - bias, p[9] - bias)
        v = min(v, p[10] - bias)
        out[i] = v & 65535


def wide_mul(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """Access: as wide_add"""
    bias, f, high = 1 << 29, p[2], p[8]
    low = p[9]
    for i in range(p[0], p[1]):
        v = ((x[i] ^ p[7]) - 32768) * ((w[i] ^ p[7]) - 32768) + p[6]
        if f > 31:
            v = v >> (f - 32)
        else:
            most = (bias << 1) >> f
            v = max(min(v, most), 0 - most)
            v = v << f
        rest, v = v & 32767, v >> 15
        m = ((v * low) << 3) + rest * high + ((rest * low) >> 12) + 2048
        v = ((v * high) << 3) + (m >> 12)
        v = max(((v + 4095 + ((v >> 13) & 1)) >> 13) + p[3] - bias, p[4] - bias)
        v = min(v, p[5] - bias)
        out[i] = v & 65535


def wide_max(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """
    Access:
        n = p[0] * p[5] * p[6]
        reads x[0 : p[0] * p[1] * p[2]] if n
        writes out[0 : n]
    """
    bias, n, flip = 1 << 29, 0, p[11]
    end = p[0] * p[5] * p[6]
    while n < end:
        y0 = n // p[6] % p[5] * p[7] - p[12] + bias
        x0 = n % p[6] * p[8] - p[13] + bias
        plane = n // (p[5] * p[6]) * p[1]
        most = 0
        for ky in range(p[3]):
            y = y0 + ky * p[9]
            if y >= 0 and y < p[1]:
                i = (plane + y) * p[2]
                for kx in range(p[4]):
                    xx = x0 + kx * p[10]
                    if xx >= 0 and xx < p[2]:
                        v = x[i + xx] ^ flip
                        most = max(v, most)
        out[n] = most ^ flip
        n += 1


def wide_quantize(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        reads w[p[2] : p[2] + 1]
        writes out[p[0] : p[1]]
    """
    bias, i = 1 << 29, p[2]
    s = (w[i] & 8388607) | 8388608
    d = ((w[i] >> 23) & 255) - 127
    for i in range(p[0], p[1]):
        v = x[i]
        e, a = (v >> 23) & 255, (v & 8388607) | 8388608
        if a < s:
            a = a << 1
            e -= 1
        e = 150 + d - e  # bits of the quotient behind the point
        q = 0
        if v & p[3] > p[4] or e > 24:
            e = 1
        elif e < 6:
            q, e = 1 << 20, 1
        else:
            n = 25
            q, a, n = quotient(q, a, s, n)
            q = (q >> 1) + (1 if q & 1 and (a or q & 2) else 0)
        q = signed((q + (1 << (e - 1)) - 1 + ((q >> e) & 1)) >> e, (v >> 31) & 1)
        q += p[5] - bias
        q = min(max(q, p[6] - bias), p[7] - bias)
        out[i] = q & 65535


def wide_dequantize(x: ptr16, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        reads w[0 : 1]
        writes out[p[0] : p[1]]
    """
    i = 0
    s = w[i]
    for i in range(p[0], p[1]):
        m, n = (x[i] ^ p[3]) - p[2], ((s >> 23) & 255) + 14
        v = m
        m = abs(m)
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
            rest, m = rest | (m & 7) << 12, m >> 3
            if rest > 16384 or (rest == 16384 and m & 1):
                m += 1
            m += n << 23
            if v < 0:
                v = 1  # 1 << 31 would be folded to an object
                m = m - (v << 30) - (v << 30)
        out[i] = m
