"""im2col of bytes, some output positions a call. Written once, for Python and viper.

    x    bytes, one image: item (c, y, x) at p[0] + c * p[4] + y * p[13] + x * p[14]
    out  a record a position: 4 bytes, the sum of the patch (below 2**24), then C * kh * kw bytes,
         zeros up to a multiple of 4
    p    x first, C, kh, kw, steps in bytes of c, ky, kx, H, W, dilations h, w, strides h, w,
         row and column of x in bytes, output width, first position's row and column, flip,
         padding (a byte), positions, record's bytes of padding, and the patch's corner at row and
         column 0 (BIAS + items)

Signed bytes are made unsigned by flip, 128; the padding is unsigned.
"""

from ._bytes import next_place


def patches(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """
    Access:
        k = p[1] * p[2] * p[3]
        last = (p[1] - 1) * p[4] + (p[7] - 1) * p[13] + (p[8] - 1) * p[14]
        s = (p[2] - 1) * (p[5] - p[9] * p[13]), (p[3] - 1) * (p[6] - p[10] * p[14])
        reads x[p[0] + sum(min(v, 0) for v in s) : p[0] + last + sum(max(v, 0) for v in s) + 1]
            if k and p[20]
        writes out[0 : p[20] * (4 + k + p[21])]
    """
    bias, n, flip = 1 << 29, 0, p[18]
    oy, ox = p[16], p[17]
    for left in range(p[20], 0, -1):
        corner_y, corner_x = p[22] + oy * p[11], p[23] + ox * p[12]
        base = p[0] + (corner_y - bias) * p[13] + (corner_x - bias) * p[14]
        far_y = corner_y + (p[2] - 1) * p[9] - bias
        far_x = corner_x + (p[3] - 1) * p[10] - bias
        within = corner_y >= bias and far_y < p[7] and corner_x >= bias and far_x < p[8]
        record = n
        n += 4
        total = 0
        for c in range(p[1]):
            at, y = base + c * p[4], corner_y
            for ky in range(p[2]):
                i, end = at, n + p[3]
                if within:
                    while n < end:
                        v = x[i] ^ flip
                        out[n] = v
                        total += v
                        i += p[6]
                        n += 1
                else:
                    covered = y >= bias and y < bias + p[7]
                    xx = corner_x
                    while n < end:
                        v = p[19]
                        if covered and xx >= bias and xx < bias + p[8]:
                            v = x[i] ^ flip
                        out[n] = v
                        total += v
                        i += p[6]
                        xx += p[10]
                        n += 1
                at += p[5]
                y += p[9]
        out[record] = total & 255
        out[record + 1] = (total >> 8) & 255
        out[record + 2] = total >> 16
        out[record + 3] = 0
        end = n + p[21]
        while n < end:
            out[n] = 0
            n += 1
        ox, oy = next_place(ox, oy, p)
