"""Sums of quantized bytes, requantized: see loops/qbinary. Viper form.

The emitter keeps the first three locals in registers, in .mpy files two: where x is read, the sum
(in `w`, as if it were an address), and where it writes.

The 10 lower bits of the factors add less than 511 to a sum. Only where that could come to another
step, or to the middle between two, are they computed: with half a step and 512 more in the sum
those are the ones that lie less than 1024 behind a step. The zero point is in all sums: its last
bit tells which of two steps was even without it.
"""

from .._viper import ptr8, ptr32
from ..qbinary import qmul8  # noqa: F401  (rare)


def qadd8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    y, x, out = ptr8(int(w) + p[3]), ptr8(int(x) + p[0]), ptr8(int(out) + p[6])
    flip, a, b = p[9:12]
    bits = p[16]
    constant = p[12] - (1 << 29) + (p[17] << bits)
    middle = constant + (1 << (bits - 1)) + 512
    mask = (1 << bits) - 1024
    x_step, w_step = p[2], p[5]
    for rows in range(p[7], 0, -1):
        end = int(out) + p[8]
        while end > int(out):
            w = ptr8((x[0] ^ flip) * a + (y[0] ^ flip) * b + middle)
            if mask & int(w):
                w = ptr8(int(w) >> bits)
            else:
                v = (x[0] ^ flip) * p[13] + (y[0] ^ flip) * p[14] + p[15]
                w = ptr8(int(w) - middle + constant + (v >> 10))
                v = 1 if v & 1023 else ((int(w) >> bits) ^ p[17]) & 1
                w = ptr8((int(w) + (1 << (bits - 1)) - 1 + v) >> bits)
            if int(w) >> 8:
                w = ptr8(255 if int(w) > 0 else 0)
            out[0] = int(w) ^ flip
            x, y = ptr8(x_step + int(x)), ptr8(w_step + int(y))
            out = ptr8(1 + int(out))
        x = ptr8(int(x) + p[1] - p[8] * x_step)
        y = ptr8(int(y) + p[4] - p[8] * w_step)
