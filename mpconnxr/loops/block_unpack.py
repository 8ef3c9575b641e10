"""Weights of 16, 8 or 4 bits to mantissas of 24, as loops/block holds them.

w    rows of K, as loops/block_narrow has them, but read as bytes;  out  mantissas, int32
p    first byte of w, rows, K, first item of out, bits (16, 8 or 4)

Written once, in the common subset of Python and viper.
"""


def unpack(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    """
    Access:
        rows, k = p[1:3]
        row = 2 * k if p[4] == 16 else k if p[4] == 8 else (k + 1) // 2
        reads w[p[0] : p[0] + rows * row]
        writes out[p[3] : p[3] + rows * k]
    """
    j, i, rows, bits = p[0], p[3], p[1], p[4]
    while rows:
        end = i + p[2]
        if bits == 8:
            while i + 3 < end:
                out[i] = w[j] << 16
                out[i + 1] = w[j + 1] << 16
                out[i + 2] = w[j + 2] << 16
                out[i + 3] = w[j + 3] << 16
                i += 4
                j += 4
            while i < end:
                out[i] = w[j] << 16
                i += 1
                j += 1
        elif bits == 16:
            while i < end:
                out[i] = (w[j] << 8) | (w[j + 1] << 16)
                i += 1
                j += 2
        else:
            while i + 1 < end:
                out[i] = (w[j] & 15) << 20
                out[i + 1] = (w[j] >> 4) << 20
                i += 2
                j += 1
            if i < end:
                out[i] = (w[j] & 15) << 20
                i += 1
                j += 1
        rows -= 1
