"""Copies rows of planes with padding around them. Plain form.

    x    bytes, planes: item (plane, y, x) at p[0] + plane * p[2] + y * p[5] + x * p[6]
    out  bytes: for each of p[1] planes p[4] rows of p[7] bytes: p[8] of padding, p[9] items of x,
         padding; from byte p[10] on
    p    x first, planes, plane stride, H, rows, row stride, column stride, bytes a row, padding
         on the left, items, out first, first row (BIAS + row, may lie outside), flip, padding

Signed bytes are made unsigned by flip, 128; the padding is unsigned.
"""


def planes(x, w, out, p):
    """
    Access:
        requires p[8] + p[9] <= p[7]
        last = (p[1] - 1) * p[2] + (p[3] - 1) * p[5] + (p[9] - 1) * p[6]
        reads x as uint8[p[0] : p[0] + last + 1] if p[1] and p[3] and p[4] and p[9]
        writes out as uint8[p[10] : p[10] + p[1] * p[4] * p[7]]
    """
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
