"""Steps of recurrent layers in fixed point: see loops/gated. Viper form of its sums, for 32 bits.

Three products of words give one of 24 by 24 bits: see loops/viper/block_dot, also for what is in
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
    first_x, o = int(x), ptr32(4 * p[6] + int(out))
    out = ptr32(4 * p[4] + int(w))
    i = 0
    mask = all_but_sign()
    for rows in far(range(p[5], 0, -1)):
        c0, c1 = out[0] & 0xFFFFFF, (out[1] & 0x3FFFFFFF) - (1 << 29)
        unit = 270 - ((out[0] >> 24) & 255)
        out, x, n = ptr32(8 + int(out)), ptr32(4 * p[0] + first_x), p[1]
        for part in far(range(2, 0, -1)):
            if part == 1:
                x, n = ptr32(4 * p[2] + first_x), p[3]
                if n:
                    unit = 270 - (out[0] & 255)
                    out = ptr32(4 + int(out))
            unit -= x[0]
            x = ptr32(4 + int(x))
            while far(n != 0):
                stop = (n - 1) % 120 + 1
                n -= stop
                stop = 4 * stop + int(x)
                a = b = h = 0
                while int(x) + 12 < stop:
                    for k in unroll(4):
                        w = ptr32(out[k])
                        a = x[k] * int(w) + a
                        f = int(w) >> 12
                        e = int(w) + f
                        w = ptr32(x[k] >> 12)
                        h = f * int(w) + h
                        b = (x[k] + int(w)) * e + b
                    x, out = ptr32(16 + int(x)), ptr32(16 + int(out))
                while int(x) < stop:
                    a = x[0] * out[0] + a
                    h += (x[0] >> 12) * (out[0] >> 12)
                    b += (x[0] + (x[0] >> 12)) * (out[0] + (out[0] >> 12))
                    x, out = ptr32(4 + int(x)), ptr32(4 + int(out))
                b -= a + 8193 * h
                e = a - (h << 24) - (b << 12)
                b += (e >> 12) & 0xFFFFF
                h += b >> 12
                a = a & 0xFFFFFF
                e = unit
                if e >= 24:
                    e -= 24
                    h = h >> (e if e < 31 else 31)
                    a = h & 0xFFFFFF
                    h = h >> 24
                else:
                    if e > 0:
                        a = (a >> e) | (h & ((1 << e) - 1)) << (24 - e)
                        h = h >> e
                    f = 1 << 26
                    while e < 0 and h <= f and h >= 0 - f:
                        h = h + h + (a >> 23)
                        a = (a << 1) & 0xFFFFFF
                        e += 1
                    if h > f or h < 0 - f:
                        a = 0
                        h = f if h > 0 else 0 - f
                c0 += a
                c1 += h
        c1 += c0 >> 24
        c0 = c0 & 0xFFFFFF
        if p[7]:
            c0 = argument(c0, c1, mask)
            o[i] = c0
        else:
            o[i] = c0
            i += 1
            o[i] = c1 + (1 << 29) + (1 << 29)
        i += 1
