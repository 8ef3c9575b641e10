"""Sums of quantized bytes, requantized: see loops/qbinary. Viper form.

The emitter keeps the first three locals in registers (two in .mpy files): the pointer to x, the
sum (in `w`, cast to a pointer), and the output pointer.

The 10 lower bits of the factors add less than 511 to a sum. They are computed only where they
could change the result or decide a tie: with half a step and 512 more in the sum, these are the
sums less than 1024 behind a step. All sums include the zero point; its last bit tells which of two
steps is even without it.
"""

from .._viper import ptr8, ptr32
from ..qbinary import qmul8  # noqa: F401  (rare)


def qadd8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    w_at, x, out = (
        ptr8(int(w) + p[_W_START]),
        ptr8(int(x) + p[_X_START]),
        ptr8(int(out) + p[_OUT_START]),
    )
    flip, x_factor, w_factor = p[_FLIP], p[_X_FACTOR], p[_W_FACTOR]
    point = p[_POINT]
    constant = p[_CONSTANT] - (1 << 29) + (p[_OUT_ZERO_POINT] << point)
    middle = constant + (1 << (point - 1)) + 512
    mask = (1 << point) - 1024
    x_stride, w_stride = p[_X_STRIDE], p[_W_STRIDE]
    for rows in range(p[_ROWS], 0, -1):
        end = int(out) + p[_COLUMNS]
        while end > int(out):
            w = ptr8((x[0] ^ flip) * x_factor + (w_at[0] ^ flip) * w_factor + middle)
            if mask & int(w):
                w = ptr8(int(w) >> point)
            else:
                rest = (
                    (x[0] ^ flip) * p[_X_FACTOR_LOW]
                    + (w_at[0] ^ flip) * p[_W_FACTOR_LOW]
                    + p[_CONSTANT_LOW]
                )
                w = ptr8(int(w) - middle + constant + (rest >> 10))
                rest = 1 if rest & 1023 else ((int(w) >> point) ^ p[_OUT_ZERO_POINT]) & 1
                w = ptr8((int(w) + (1 << (point - 1)) - 1 + rest) >> point)
            if int(w) >> 8:
                w = ptr8(255 if int(w) > 0 else 0)
            out[0] = int(w) ^ flip
            x, w_at = ptr8(x_stride + int(x)), ptr8(w_stride + int(w_at))
            out = ptr8(1 + int(out))
        x = ptr8(int(x) + p[_X_ROW_STRIDE] - p[_COLUMNS] * x_stride)
        w_at = ptr8(int(w_at) + p[_W_ROW_STRIDE] - p[_COLUMNS] * w_stride)
