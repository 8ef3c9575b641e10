"""Exact sums of mantissas with 16-, 8- or 4-bit weights, as loops/block_dot has them. Plain form.

    x    mantissas (see loops/block), int32: rows of columns
    w    channels, contiguous: rows of uint16 or uint8, or of (columns + 1) // 2 bytes with two
         weights each, the first one in the lower bits
    out  for each row of x: limbs (24, 24 and 16 bits) of sum(x) + 2**40, then of
         sum(x * v) + 2**63 for each channel, v being the weight's 24-bit mantissa as stored

A weight of b bits is stored as u = m + 2**(b - 1) and has the mantissa m * 2**(24 - b), which as
24 bits would be stored as v = m * 2**(24 - b) + 2**23 = u * 2**(24 - b). So sum(x * v) is sum(x *
u), shifted.
"""

from .block_dot import (
    _CHANNELS,
    _COLUMNS,
    _OUT_START,
    _ROWS,
    _W_START,
    _X_ROW_STRIDE,
    _X_START,
)

# Parameters of dots: as block_dot.dots
_BITS = 7  # of a weight [bits] 4, 8, 16

_MASK = 0xFFFFFF


def dots(x, w, out, p):
    """Compute sums of mantissas for all rows and channels.

    Access:
        row = (columns + 1) // 2 if bits == 4 else columns
        n = (rows - 1) * x_row_stride + columns
        reads x as int32[x_start : x_start + n] if columns
        reads w as uint16[w_start : w_start + channels * row] if bits == 16
        reads w as uint8[w_start : w_start + channels * row] if bits < 16
        writes out as int32[out_start : out_start + rows * 3 * (channels + 1)]
        given 0 - (1 << 23) <= x[x_start : x_start + n] < 1 << 23 if columns
    """
    x_row, at, bits = p[_X_START], p[_OUT_START], p[_BITS]
    dot = _dot4 if bits == 4 else _dot
    w_step = (p[_COLUMNS] + 1) // 2 if bits == 4 else p[_COLUMNS]
    rows_left = p[_ROWS]
    while rows_left:
        at = _store(out, at, (1 << 40) + _sum(x, x_row, x_row + p[_COLUMNS]), 0, 0)
        w_row = p[_W_START]
        channels_left = p[_CHANNELS]
        while channels_left:
            at = _store(out, at, dot(x, w, x_row, x_row + p[_COLUMNS], w_row), 24 - bits, 1 << 15)
            w_row += w_step
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


def _dot4(x, w, i, end, j):
    total = 0
    while i < end:
        total += x[i] * (w[j] & 15)
        i += 1
        if i < end:
            total += x[i] * (w[j] >> 4)
            i += 1
        j += 1
    return total


def _store(out, at, total, shift, high):
    """Write the limbs of total << shift without a big integer; return the next index."""
    total, low = total >> 24 - shift, total & (1 << 24 - shift) - 1
    out[at] = low << shift
    out[at + 1] = total & _MASK
    out[at + 2] = (total >> 24) + high
    return at + 3
