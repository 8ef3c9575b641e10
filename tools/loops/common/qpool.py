"""Means of windows of quantized bytes, requantized. Written once, for Python and viper.

    x    bytes: planes (H, W) from p[0] on, one after another
    w    words, multipliers by number of items, see loops/qdot: w[p[13] * items]
    out  bytes, planes (oh, ow) from p[1] on
    p    x first, out first, planes, H, W, kh, kw, strides y, x, pads y, x, oh, ow, 1 or 0, zx, zy,
         flip

    out = limited(round((sum of a window's items - items * zx) * scale) + zy)

rounded to even from the middle and limited to 0 .. 255, where items are those of the window that
lie inside x; a window has one at least. Signed bytes are made unsigned by flip, also those of out.
"""


def means8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        requires p[9] < p[5] and (p[11] - 1) * p[7] < p[3] + p[9]
        requires p[10] < p[6] and (p[12] - 1) * p[8] < p[4] + p[10]
        n = p[2] * p[11] * p[12]
        reads x[p[0] : p[0] + p[2] * p[3] * p[4]] if n
        reads w[0 : p[13] * p[5] * p[6] + 1] if n
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
                v, word = total - n * p[14], w[p[13] * n]
                f = word & 63
                if f > 31:
                    v = (v + ((1 << (f - 32)) >> 1)) >> (f - 32)
                    f = 0
                limit = (1 << 25) >> f
                v = max(min(v, limit), 0 - limit)
                v, high, low = v << f, (word >> 20) & 4095, (word >> 8) & 4095
                part = v & 4095
                v = v >> 12
                v = v * high + ((v * low + part * high + ((part * low) >> 12) + 2048) >> 12)
                v = min(max(((v + 32767 + ((v >> 16) & 1)) >> 16) + p[15], 0), 255)
                out[at] = v ^ flip
                at += 1
        first += p[3] * width
