"""Means of windows of quantized bytes, requantized. Written once, for Python and viper.

    x    bytes: planes (H, W) from p[0] on, one after another
    w    words, two by number of items, the first at w[2 * p[13] * items]: f, plus 32 where middles
         are near ones, then M, below 2**31: scale = M * 2**(f - 47)
    out  bytes, planes (oh, ow) from p[1] on
    p    x first, out first, planes, H, W, kh, kw, strides y, x, pads y, x, oh, ow, 1 or 0, zx, zy,
         flip

    out = limited(round((sum of a window's items - items * zx) * scale) + zy)

rounded to even from the middle and limited to 0 .. 255, where items are those of the window that
lie inside x; a window has one at least. All bits of a product count; where f has 32, what lies
within 2**-17 of the middle is taken for it (a sum / 6, for one). Signed bytes are made unsigned by
flip, also those of out.
"""

from ._words import times_multiplier


def means8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        requires p[9] < p[5] and (p[11] - 1) * p[7] < p[3] + p[9]
        requires p[10] < p[6] and (p[12] - 1) * p[8] < p[4] + p[10]
        n = p[2] * p[11] * p[12]
        reads x[p[0] : p[0] + p[2] * p[3] * p[4]] if n
        reads w[0 : 2 * p[13] * p[5] * p[6] + 2] if n
        writes out[p[1] : p[1] + n]
    """
    flip, width, first, at = p[16], p[4], p[0], p[1]
    for planes in range(p[2], 0, -1):
        for oy in range(p[11]):
            top = oy * p[7] - p[9]
            bottom = top + p[5]
            top = max(top, 0)
            bottom = min(bottom, p[3])
            for ox in range(p[12]):
                left = ox * p[8] - p[10]
                right = left + p[6]
                left = max(left, 0)
                right = min(right, width)
                total, row, end = 0, first + top * width, first + bottom * width
                while row < end:
                    i, stop = row + left, row + right
                    while i < stop:
                        total += x[i] ^ flip
                        i += 1
                    row += width
                n = (bottom - top) * (right - left)
                i = 2 * p[13] * n
                v, f, low = total - n * p[14], w[i] & 31, w[i + 1]
                limit = (1 << 25) >> f
                v = max(min(v, limit), 0 - limit)
                v, high, low = v << f, (low >> 15) & 65535, low & 32767
                v, more, low, part = times_multiplier(v, high, low)
                if w[i] & 32:
                    v, more = ((v + 8) >> 4) << 4, 0
                v = (v + 524287 + (1 if more else (v >> 20) & 1)) >> 20
                v = min(max(v + p[15], 0), 255)
                out[at] = v ^ flip
                at += 1
        first += p[3] * width
