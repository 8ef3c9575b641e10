"""Time steps of recurrent layers in fixed point: see loops/gated. Viper form, 32-bit words.

Three products of words give one of 24 by 24 bits: see loops/viper/block_dot, also for the
registers. Up to 120 of them are added up without a carry.
"""

import sys

from .._cells import argument
from .._hints import far, unroll
from .._viper import ptr32
from .._words import all_but_sign
from ..gated import (  # noqa: F401
    lstm,
    put,
    relu,
    renew,
    reset,
    reset_sums,
    rnn,
    row,
    small_sums,
)

if sys.maxsize >> 31:
    raise ImportError("for words of 32 bits: loads have a sign there")


def sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    first_x, results = int(x), ptr32(4 * p[_SUMS_OUT_START] + int(out))
    out = ptr32(4 * p[_W_START] + int(w))
    i = 0
    mask = all_but_sign()
    for rows in far(range(p[_ROWS], 0, -1)):
        sum_low, sum_high = out[0] & 0xFFFFFF, (out[1] & 0x3FFFFFFF) - (1 << 29)
        unit = 270 - ((out[0] >> 24) & 255)
        out, x, n = ptr32(8 + int(out)), ptr32(4 * p[_X_ROW_START] + first_x), p[_X_ELEMENTS]
        for part in far(range(2, 0, -1)):
            if part == 1:
                x, n = ptr32(4 * p[_H_ROW_START] + first_x), p[_H_ELEMENTS]
                if n:
                    unit = 270 - (out[0] & 255)
                    out = ptr32(4 + int(out))
            unit -= x[0]
            x = ptr32(4 + int(x))
            while far(n != 0):
                stop = (n - 1) % 120 + 1
                n -= stop
                stop = 4 * stop + int(x)
                low = middle = high = 0
                while int(x) + 12 < stop:
                    for k in unroll(4):
                        w = ptr32(out[k])
                        low = x[k] * int(w) + low
                        f = int(w) >> 12
                        e = int(w) + f
                        w = ptr32(x[k] >> 12)
                        high = f * int(w) + high
                        middle = (x[k] + int(w)) * e + middle
                    x, out = ptr32(16 + int(x)), ptr32(16 + int(out))
                while int(x) < stop:
                    low = x[0] * out[0] + low
                    high += (x[0] >> 12) * (out[0] >> 12)
                    middle += (x[0] + (x[0] >> 12)) * (out[0] + (out[0] >> 12))
                    x, out = ptr32(4 + int(x)), ptr32(4 + int(out))
                middle -= low + 8193 * high
                e = low - (high << 24) - (middle << 12)
                middle += (e >> 12) & 0xFFFFF
                high += middle >> 12
                low = low & 0xFFFFFF
                e = unit
                if e >= 24:
                    e -= 24
                    high = high >> (e if e < 31 else 31)
                    low = high & 0xFFFFFF
                    high = high >> 24
                else:
                    if e > 0:
                        low = (low >> e) | (high & ((1 << e) - 1)) << (24 - e)
                        high = high >> e
                    f = 1 << 26
                    while e < 0 and high <= f and high >= 0 - f:
                        high = high + high + (low >> 23)
                        low = (low << 1) & 0xFFFFFF
                        e += 1
                    if high > f or high < 0 - f:
                        low = 0
                        high = f if high > 0 else 0 - f
                sum_low += low
                sum_high += high
        sum_high += sum_low >> 24
        sum_low = sum_low & 0xFFFFFF
        if p[_HAS_ARGUMENTS]:
            sum_low = argument(sum_low, sum_high, mask)
            results[i] = sum_low
        else:
            results[i] = sum_low
            i += 1
            results[i] = sum_high + (1 << 29) + (1 << 29)
        i += 1
