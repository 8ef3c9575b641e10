"""Depthwise convolution of bytes with requantization: see loops/depthwise. Viper form.

As in loops/viper/qdot, the sum is kept in `w`, a register, and starts with the limit of the
values, and one product suffices for most of them; `out` points to the weights. Words that viper
loads are signed on 32-bit machines and unsigned on 64-bit ones: sums are valid modulo 2**32 until
their sign is restored. The nine weights of 3 x 3 are locals: all but three lie in memory, but an
element takes one load less than with a pointer, which would lie there, too.
"""

from .._bytes import (
    fast_path,
    products,
    products_from,
    put,
    scale_to_limits,
    to_even,
)
from .._hints import far, unroll
from .._viper import ptr8, ptr32


def depthwise8(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    differences, blob = int(x), int(w) + p[_W_START]
    tables = (int(x) if p[_IS_TABLE_IN_X] else int(w)) + p[_TABLE_START]
    place, bias = int(out) + p[_OUT_START], 1 << 29
    sign = bias << 2
    mask = (bias << 3) - 1  # all ones on 32-bit machines, too
    is_wide, least, most = sign << 1, p[_LOW] - bias, p[_HIGH] - bias
    middle = ((p[_OUT_ZERO_POINT] - bias) << 21) + 1146816
    pitch, step = p[_KERNEL_ROW_STEP], p[_KERNEL_COLUMN_STEP]
    between, kernel_columns = p[_OUT_POSITION_STRIDE], p[_KERNEL_COLUMNS]
    is_nine = 1 if p[_KERNEL_ROWS] == 3 and kernel_columns == 3 and step == 1 else 0
    is_five = 1 if p[_KERNEL_ROWS] == 5 and kernel_columns == 5 and step == 1 else 0
    is_seven = 1 if p[_KERNEL_ROWS] == 7 and kernel_columns == 7 and step == 1 else 0
    following = p[_OUT_COLUMN_STEP] - pitch * (2 if is_nine else p[_KERNEL_ROWS])
    taps = p[_KERNEL_ROWS] * kernel_columns
    behind, plane, channel = differences + 4 * taps, differences + p[_X_START], 0
    while far(channel != p[_PLANES] * p[_DEPTH_MULTIPLIER]):
        table = ptr32(tables + 8 * channel)
        x, out, w = ptr8(blob + taps * channel), ptr32(differences), ptr8(p[_W_ZERO_POINT])
        while int(out) < behind:
            out[0] = x[0] - int(w)
            x, out = ptr8(1 + int(x)), ptr32(4 + int(out))
        if is_nine:
            out = ptr32(differences)
            k0, k1, k2, k3, k4 = out[:5]
            k5, k6, k7, k8 = out[5:9]
        f, limit, shift = table[0] & 31, 0, 0
        factor = 0
        addend = 0  # so that no value takes the fast path
        bits = 0
        if f < 26:
            limit, factor, addend, bits, shift = fast_path(f, table[1], middle)
        c, at, line = ((table[0] ^ sign) - sign) >> 5, place, plane
        c = c << (f - 25) if f > 25 else c + limit
        for rows_left in range(p[_OUT_ROWS], 0, -1):
            first = line
            for columns_left in range(p[_OUT_COLUMNS], 0, -1):
                x, w = ptr8(first), ptr8(c)
                if is_nine:
                    w = ptr8(x[0] * k0 + int(w))
                    w = ptr8(x[1] * k1 + int(w))
                    w, x = ptr8(x[2] * k2 + int(w)), ptr8(pitch + int(x))
                    w = ptr8(x[0] * k3 + int(w))
                    w = ptr8(x[1] * k4 + int(w))
                    w, x = ptr8(x[2] * k5 + int(w)), ptr8(pitch + int(x))
                    w = ptr8(x[0] * k6 + int(w))
                    w = ptr8(x[1] * k7 + int(w))
                    w = ptr8(x[2] * k8 + int(w))
                else:
                    out = ptr32(differences)
                    if is_five:
                        w = products(w, x, out, 5)
                        x, out = ptr8(pitch + int(x)), ptr32(20 + int(out))
                        while behind > int(out):
                            for j in unroll(2):
                                w = products_from(w, x, 0, out, 5 * j, 5)
                                x = ptr8(pitch + int(x))
                            out = ptr32(40 + int(out))
                    elif is_seven:
                        while behind > int(out):
                            w = products(w, x, out, 7)
                            x, out = ptr8(pitch + int(x)), ptr32(28 + int(out))
                    else:
                        start = int(x)
                        while int(out) < behind:
                            end = int(out) + 4 * kernel_columns
                            while end > int(out):
                                w = ptr8(x[0] * out[0] + int(w))
                                x = ptr8(step + int(x))
                                out = ptr32(4 + int(out))
                            start += pitch
                            x = ptr8(start)
                first = following + int(x)
                if is_wide:
                    w = ptr8(((int(w) & mask) ^ sign) - sign)
                x = ptr8((int(w) >> shift) * factor + addend)
                if int(w) >> bits or not 1966080 & int(x):
                    w = ptr8(int(w) - limit)
                    w, x, v = scale_to_limits(w, f)
                    x, w, v, low, lowest = to_even(w, table[1])
                    x = ptr8(int(x) + p[_OUT_ZERO_POINT] - bias)
                else:
                    x = ptr8(int(x) >> 21)
                at, x, w = put(x, at, between, least, most)
            line += p[_OUT_ROW_STEP]
        place += p[_OUT_CHANNEL_STRIDE]
        channel += 1
        if channel % p[_DEPTH_MULTIPLIER] == 0:
            plane += p[_X_PLANE_STRIDE]


depthwise33 = depthwise_dense = depthwise8
