"""Weights of 16, 8 or 4 bits to 24-bit mantissas, as loops/block stores them.

w holds rows as in loops/block_narrow, read as bytes; out gets mantissas, int32.
"""

# Parameters of unpack
_W_START = const(0)  # [bytes] 0..
_ROWS = const(1)  # of w and of out [rows] 0..
_COLUMNS = const(2)  # of a row [elements] 0..
_OUT_START = const(3)  # [elements] 0..
_BITS = const(4)  # of a weight [bits] 4, 8, 16


def unpack(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    """Unpack rows of weights.

    Access:
        row = 2 * columns if bits == 16 else columns if bits == 8 else (columns + 1) // 2
        reads w[w_start : w_start + rows * row]
        writes out[out_start : out_start + rows * columns]
    """
    j, i, rows_left, bits = p[_W_START], p[_OUT_START], p[_ROWS], p[_BITS]
    while rows_left:
        end = i + p[_COLUMNS]
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
        rows_left -= 1
