"""Largest byte of each window, whole planes a call. Plain form.

    x    bytes: planes (H, W) from p[0] on, one after another
    out  bytes: planes (oh, ow) from p[1] on
    p    x first, out first, planes, H, W, kh, kw, strides y, x, pads y, x (BIAS + items), oh, ow,
         flip

Signed bytes are compared with their top bit flipped. A window of padding only gives the least.
Items are written in the order of their windows, each when its window has been read.
"""


def maxima8(x, w, out, p):
    """
    Access:
        reads x as uint8[p[0] : p[0] + p[2] * p[3] * p[4]] if p[11] and p[12]
        writes out as uint8[p[1] : p[1] + p[2] * p[11] * p[12]]
    """
    bias = 1 << 29
    flip = p[13]
    width = p[4]
    first = p[0]
    at = p[1]
    planes = p[2]
    while planes:
        y = bias - p[9]
        oy = p[11]
        while oy:
            top = y
            bottom = y + p[5]
            if top < 0:
                top = 0
            if bottom > p[3]:
                bottom = p[3]
            left = bias - p[10]
            ox = p[12]
            while ox:
                best = 0
                row = first + top * width
                end = first + bottom * width
                while row < end:
                    i = row + left
                    if left < 0:
                        i = row
                    stop = row + left + p[6]
                    if stop > row + width:
                        stop = row + width
                    while i < stop:
                        v = x[i] ^ flip
                        if v > best:
                            best = v
                        i += 1
                    row += width
                out[at] = best ^ flip
                at += 1
                left += p[8]
                ox -= 1
            y += p[7]
            oy -= 1
        first += p[3] * width
        planes -= 1
