"""Exact sums of mantissas, the inner loop of block_conv and block_gemm. Plain form.

    x    mantissas (see loops/block), rows of columns
    w    mantissas as stored, channels of as many columns, contiguous
    out  for each row of x: limbs (24, 24 and 16 bits) of sum(x) + 2**40, then of
         sum(x * w) + 2**63 for each channel

columns is below 2**16, so that a signed sum has at most 64 bits, and no limb is negative. finish
removes the added constants together with HALF * sum(x).
"""

# Parameters of dots
_X_START = 0  # [elements] 0..
_ROWS = 1  # of x [rows] 1..
_X_ROW_STRIDE = 2  # from row to row of x [elements] 0..
_COLUMNS = 3  # of a row of x and of w [elements] 0..65535
_W_START = 4  # [elements] 0..
_CHANNELS = 5  # rows of w [channels] 1..
_OUT_START = 6  # [elements] 0..

_MASK = 0xFFFFFF


def dots(x, w, out, p):
    """Compute sums of mantissas for all rows and channels.

    Access:
        n = (rows - 1) * x_row_stride + columns
        reads x as int32[x_start : x_start + n] if columns
        reads w as int32[w_start : w_start + channels * columns]
        writes out as int32[out_start : out_start + rows * 3 * (channels + 1)]
        given 0 - (1 << 23) <= x[x_start : x_start + n] < 1 << 23 if columns
        given 0 <= w[w_start : w_start + channels * columns] < 1 << 24
    """
    x_row, at = p[_X_START], p[_OUT_START]
    rows_left = p[_ROWS]
    while rows_left:
        at = _store(out, at, (1 << 40) + _sum(x, x_row, x_row + p[_COLUMNS]), 0)
        w_row = p[_W_START]
        channels_left = p[_CHANNELS]
        while channels_left:
            at = _store(out, at, _dot(x, w, x_row, x_row + p[_COLUMNS], w_row), 1 << 15)
            w_row += p[_COLUMNS]
            channels_left -= 1
        x_row += p[_X_ROW_STRIDE]
        rows_left -= 1


def _sum(x, i, end):
    total = 0
    while i < end:
        total += x[i]
        i += 1
    return total


def _dot(x, w, i, end, j):
    total = 0
    while i < end:
        total += x[i] * w[j]
        i += 1
        j += 1
    return total


def _store(out, at, total, high):
    out[at] = total & _MASK
    out[at + 1] = total >> 24 & _MASK
    out[at + 2] = (total >> 48) + high
    return at + 3
