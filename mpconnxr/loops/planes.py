"""Copies rows of planes with padding around them. Plain form.

    x    bytes, planes: item (plane, y, x) at p[0] + plane * p[2] + y * p[5] + x * p[6]
    out  bytes: for each of p[1] planes p[4] rows of p[7] bytes: p[8] of padding, p[9] items of x,
         padding; from byte p[10] on
    p    x first, planes, plane stride, H, rows, row stride, column stride, bytes a row, padding
         on the left, items, out first, first row (BIAS + row, may lie outside), flip, padding

Signed bytes are made unsigned by flip, 128; the padding is unsigned.
"""


def planes(x, w, out, p):
    bias = 1 << 29
    n = p[10]
    flip = p[12]
    step = p[6]
    plane = 0
    while plane < p[1]:
        y = p[11]
        rows = p[4]
        while rows:
            end = n + p[7]
            if y >= bias and y < bias + p[3]:
                stop = n + p[8]
                while n < stop:
                    out[n] = p[13]
                    n += 1
                i = p[0] + plane * p[2] + (y - bias) * p[5]
                stop = n + p[9]
                while n < stop:
                    out[n] = x[i] ^ flip
                    i += step
                    n += 1
            while n < end:
                out[n] = p[13]
                n += 1
            y += 1
            rows -= 1
        plane += 1
