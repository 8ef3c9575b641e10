"""Quantization and dequantization by scales and zero points. Plain form.

w is (scales, zero points); both have the strides of w. Elements of out are contiguous.
"""

from array import array

from ._words import (
    _COLUMNS,
    _OUT_START,
    _ROWS,
    _W_ROW_STRIDE,
    _W_START,
    _W_STRIDE,
    _X_ROW_STRIDE,
    _X_START,
    _X_STRIDE,
)

# Parameters of quantize, dequantize: as _words.pairs
_HAS_ZERO_POINTS = const(9)  # w has them [flag] 0, 1

# Parameters of quantize
_LOW = const(10)  # of out [value] -32768..0
_HIGH = const(11)  # of out [value] 1..65535
_IS_FLOAT64 = const(12)  # round quotients to float64, not float32 [flag] 0, 1

INF = float("inf")

_FAR = 1e6  # beyond every range, zero point included


def quantize(x, w, out, p):
    """Write x / scale, rounded half to even, plus the zero point, clipped to low .. high.

    The quotient is rounded to the dtype of the scales even where Python's floats are wider.

    Access: as dequantize
    """
    scales, low, high = w[0], p[_LOW], p[_HIGH]
    cell = array("d" if p[_IS_FLOAT64] else "f", [0.0])
    k, n = p[_OUT_START], p[_COLUMNS]
    row = 0
    while row < p[_ROWS]:
        i = p[_X_START] + row * p[_X_ROW_STRIDE]
        j = p[_W_START] + row * p[_W_ROW_STRIDE]
        end = k + n
        while k < end:
            scale = scales[j]
            cell[0] = x[i] / scale if scale else x[i] * INF
            v = cell[0]
            if v > _FAR:
                v = _FAR
            elif not v > -_FAR:
                v = -_FAR if v == v else 0.0
            v = round(v)
            if p[_HAS_ZERO_POINTS]:
                v += w[1][j]
            out[k] = low if v < low else high if v > high else v
            i += p[_X_STRIDE]
            j += p[_W_STRIDE]
            k += 1
        row += 1


def dequantize(x, w, out, p):
    """Write (x - zero point) * scale.

    Access:
        x_last = x_start + (rows - 1) * x_row_stride + (columns - 1) * x_stride
        w_last = w_start + (rows - 1) * w_row_stride + (columns - 1) * w_stride
        reads w[0 : 2]
        reads x[x_start : x_last + 1] if rows and columns
        reads w[0][w_start : w_last + 1] if rows and columns
        reads w[1][w_start : w_last + 1] if rows and columns and has_zero_points
        writes out[out_start : out_start + rows * columns]
    """
    scales, zeros, has_zeros = w[0], w[1], p[_HAS_ZERO_POINTS]
    k, n = p[_OUT_START], p[_COLUMNS]
    row = 0
    while row < p[_ROWS]:
        i = p[_X_START] + row * p[_X_ROW_STRIDE]
        j = p[_W_START] + row * p[_W_ROW_STRIDE]
        end = k + n
        while k < end:
            out[k] = (x[i] - zeros[j] if has_zeros else x[i]) * scales[j]
            i += p[_X_STRIDE]
            j += p[_W_STRIDE]
            k += 1
        row += 1
