"""Means of windows of 16-bit integers, rounded as in float32.

choose_wide writes the means as integers, but lists those near a tie. x and out hold planes of
16-bit integers; otherwise x, w, out and p are those of loops/means.
"""

from ._bytes import next_window
from ._windows import (
    _COLUMN_PADDING,
    _COLUMN_STRIDE,
    _COLUMNS,
    _KERNEL_COLUMNS,
    _KERNEL_ROWS,
    _OUT_COLUMNS,
    _OUT_ROWS,
    _OUT_START,
    _PLANES,
    _ROW_PADDING,
    _ROW_STRIDE,
    _ROWS,
    _X_START,
)
from ._words import set_at

# Parameters of choose_wide: as _windows.windows
_DIVISOR = const(13)  # divisor of a sum [elements] 1..8000
_ORDER = const(14)  # order of additions: 0 by rows, 1 by columns, 2 four sums [code] 0..2
_X_ZERO_POINT = const(15)  # of x ^ flip [value] 0..65535
_FLIP = const(16)  # sign bit if x and out are signed, else 0 [mask] 0, 32768
_NEAR = const(17)  # from a tie, where 2 * divisor * ratio_denominator is a step [value] 0..
_OUT_LEAST = const(18)  # least byte of out, for mean_bytes.bytes_of [value] 0
_RATIO_NUMERATOR = const(19)  # of x_scale / out_scale [value] 1..64
_RATIO_DENOMINATOR = const(20)  # [value] 1..64
_WINDOW = const(21)  # next window of choose_wide, set by it [windows] 0..
_LISTED = const(22)  # windows in the list, set by choose_wide [windows] 0..64
_X_SCALE_HIGH = const(23)  # the upper 12 bits of the mantissa of x_scale [value] 0..4095
_X_SCALE_LOW = const(24)  # its lower 12 bits [value] 0..4095
_X_SCALE_EXPONENT = const(25)  # biased [exponent] 0..187
_OUT_SCALE = const(26)  # mantissa of out_scale [value] 0..2**24 - 1
_OUT_SCALE_EXPONENT = const(27)  # biased [exponent] 0..187
_OUT_ZERO_POINT = const(28)  # of out ^ flip [value] 0..65535
_BYTES_PER_ELEMENT = const(29)  # [bytes] 2
_HIGH = const(30)  # greatest element of out ^ flip [value] 65535


def choose_wide(x: ptr16, w: ptr32, out: ptr16, p: ptr32):
    """Access: as means.choose"""
    window, listed, step = p[_WINDOW], 0, 2 * p[_DIVISOR] * p[_RATIO_DENOMINATOR]
    left = window % p[_OUT_COLUMNS] * p[_COLUMN_STRIDE] - p[_COLUMN_PADDING]
    top = window // p[_OUT_COLUMNS] % p[_OUT_ROWS] * p[_ROW_STRIDE] - p[_ROW_PADDING]
    plane = p[_X_START] + window // (p[_OUT_ROWS] * p[_OUT_COLUMNS]) * p[_ROWS] * p[_COLUMNS]
    past = p[_OUT_COLUMNS] * p[_COLUMN_STRIDE] - p[_COLUMN_PADDING]
    while window < p[_PLANES] * p[_OUT_ROWS] * p[_OUT_COLUMNS] and listed < 64:
        row = top if top > 0 else 0
        bottom = min(top + p[_KERNEL_ROWS], p[_ROWS])
        first_column = left if left > 0 else 0
        right = min(left + p[_KERNEL_COLUMNS], p[_COLUMNS])
        total = (row - bottom) * (right - first_column) * p[_X_ZERO_POINT]
        while row < bottom:
            i = plane + row * p[_COLUMNS]
            stop = i + right
            i += first_column
            while i < stop:
                total += x[i] ^ p[_FLIP]
                i += 1
            row += 1
        i = 2 * (total if total > 0 else 0 - total) * p[_RATIO_NUMERATOR] + (step >> 1)
        stop = i // step
        i -= stop * step
        if i < p[_NEAR] or step - i < p[_NEAR]:
            w[listed] = window
            listed += 1
        else:
            i = min(max(p[_OUT_ZERO_POINT] + (stop if total > 0 else 0 - stop), 0), 65535)
            out[p[_OUT_START] + window] = i ^ p[_FLIP]
        window, left, top, plane = next_window(window, left, top, plane, past, p)
    i = set_at(p, _WINDOW, window)
    p[i + (_LISTED - _WINDOW)] = listed
