"""Dot products of bytes with requantization: see loops/qdot. Viper form.

The emitter keeps the first three locals in registers, in .mpy files two, and the hot ones of the
inner loops are where x is read, the sum, and where the weights are: so the sum is kept in `w`, as
if it were an address. `out` points to the weights; in qdots8_many, whose weights lie in more than
one place, to the items, while `x` points to the weights. Behind the sum the registers hold what
requantizes it. In a comparison or a product what is in memory stands first: that saves a move.

Most values are requantized by one product, a / 2**10 times M / 2**16, both rounded down: the whole
product divided by 2**26 is at most 2**15 less than that or 2**16 more. Where all of these come to
the same step the rest is not needed; near the middle of two steps it is. There bits 17 to 20 are
zero, after what is added for it: a sixteenth of all values, which takes one test.

qdots8_many unpacks what goes with a channel once for all positions. The limit of v is in its sums
from their beginning: those within the limits are then the ones of few bits. Items go in pieces of
24, 8 and 4, as many of each as there are in a row, so that a short row takes few tests.

Made from tools/loops/viper/qdot.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def qdots8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    items = out
    first = int(x) + p[12]
    weights = int(w) + p[0]
    tables = int(x) if p[15] else int(w)
    at = p[5]
    bias = 1 << 29
    sign = bias << 2  # 1 << 31 would be folded to an object
    zy = p[9] - bias
    least = p[10] - bias
    most = p[11] - bias
    middle = (zy << 21) + 1146816
    n = p[3]
    while n:
        table = ptr32(tables + p[1])
        row = weights
        end = first + p[2]
        last = end - 15
        x = ptr8(first)
        w = ptr8(0)
        if p[14]:
            w = ptr8(ptr32(first - 4)[0])
        else:
            while int(x) < end:
                w = ptr8(int(w) + x[0] + x[1] + x[2] + x[3])
                x = ptr8(4 + int(x))
        zs = p[8] * int(w)
        k = at
        of_tile = 0
        m = p[4]
        while m:
            x = ptr8(first)
            out = ptr8(row)
            w = ptr8(0)
            if m > 3 or of_tile:
                while int(x) < last:
                    w = ptr8(x[0] * out[0] + int(w))
                    w = ptr8(x[1] * out[1] + int(w))
                    w = ptr8(x[2] * out[2] + int(w))
                    w = ptr8(x[3] * out[3] + int(w))
                    w = ptr8(x[4] * out[16] + int(w))
                    w = ptr8(x[5] * out[17] + int(w))
                    w = ptr8(x[6] * out[18] + int(w))
                    w = ptr8(x[7] * out[19] + int(w))
                    w = ptr8(x[8] * out[32] + int(w))
                    w = ptr8(x[9] * out[33] + int(w))
                    w = ptr8(x[10] * out[34] + int(w))
                    w = ptr8(x[11] * out[35] + int(w))
                    w = ptr8(x[12] * out[48] + int(w))
                    w = ptr8(x[13] * out[49] + int(w))
                    w = ptr8(x[14] * out[50] + int(w))
                    w = ptr8(x[15] * out[51] + int(w))
                    x = ptr8(16 + int(x))
                    out = ptr8(64 + int(out))
                while int(x) < end:
                    w = ptr8(x[0] * out[0] + int(w))
                    w = ptr8(x[1] * out[1] + int(w))
                    w = ptr8(x[2] * out[2] + int(w))
                    w = ptr8(x[3] * out[3] + int(w))
                    x = ptr8(4 + int(x))
                    out = ptr8(16 + int(out))
                row += 4
                of_tile += 1
                if of_tile == 4:
                    of_tile = 0
                    row += p[2] * 4 - 16
            else:
                while int(x) < end:
                    w = ptr8(x[0] * out[0] + int(w))
                    w = ptr8(x[1] * out[1] + int(w))
                    w = ptr8(x[2] * out[2] + int(w))
                    w = ptr8(x[3] * out[3] + int(w))
                    x = ptr8(4 + int(x))
                    out = ptr8(4 + int(out))
                row += p[2]
            x = ptr8(table[0] & 31)
            v = ((table[0] ^ sign) - sign) >> 5
            if int(x) > 25:
                v = v << (int(x) - 25)
            w = ptr8(int(w) - zs + v)
            out = ptr8(table[1])
            v = 0  # not in the quick way
            if int(x) < 26 and not (((int(w) >> (25 - int(x))) + 1) >> 1):
                v = ((int(w) << int(x)) >> 10) * ((int(out) >> 16) & 32767) + middle
            if 1966080 & v:
                v = v >> 21
            else:
                if int(x) > 25:
                    w = ptr8(int(w) >> (int(x) - 25))
                    x = ptr8(0)
                v = (1 << 25) >> int(x)
                if int(w) > v:
                    w = ptr8(v)
                if int(w) < 0 - v:
                    w = ptr8(0 - v)
                w = ptr8(int(w) << int(x))
                low = int(out) & 32767
                v = int(w) & 4095
                x = ptr8((int(out) >> 15) & 65535)
                w = ptr8(int(w) >> 12)
                lowest = v * low
                low = int(w) * low + (lowest >> 12)
                v = v * int(x) + (low >> 3)
                w = ptr8(int(w) * int(x) + (v >> 12))
                v = ((lowest | v) & 4095) | (low & 7)
                x = ptr8(1 if v else (int(w) >> 20) & 1)
                x = ptr8((int(w) + 524287 + int(x)) >> 20)
                v = int(x) + zy
            if v < least:
                v = least
            if v > most:
                v = most
            items[k] = v
            k += p[7]
            table = ptr32(8 + int(table))
            m -= 1
        first += p[13]
        at += p[6]
        n -= 1


@micropython.viper
def qdots8_many(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    place = int(out) + p[5]
    start = int(x) + p[12] - 4
    row = int(w) + p[0]
    table = ptr32((int(x) if p[15] else int(w)) + p[1])
    bias = 1 << 29
    sign = bias << 2
    is_wide = sign << 1
    least = p[10] - bias
    most = p[11] - bias
    middle = ((p[9] - bias) << 21) + 1146816
    pitch = p[6]
    kp = p[2]
    zw = 0 - p[8]
    tiled = p[4] & -4
    span = kp * 4
    step = 16
    many = kp // 24
    left = kp % 24
    sixteen = left & 16
    eight = left & 24
    four = left & 4
    of_tile = 3
    k = 0
    while True:
        if k == p[4]:
            break
        if k == tiled:
            span = kp
            step = 4
            many = 0
            sixteen = 0
            eight = 0
            four = 4
            of_tile = 0
        end = row + span
        last = end - 95
        f = table[0] & 31
        limit = 0
        shift = 0
        factor = 0
        addend = 0  # such that no value is in the quick way
        bits = 0
        if f < 26:
            limit = (1 << 25) >> f
            factor = (table[1] >> 16) & 32767
            addend = middle - (factor << 15)
            bits = 26 - f
            shift = 10 - f
            if shift < 0:
                factor = factor << (f - 10)
                shift = 0
        c = table[0]
        if is_wide:
            c = (c ^ sign) - sign
        c = (c >> 5) << (f - 25) if f > 25 else (c >> 5) + limit
        at = place
        out = ptr8(start)
        n = p[3]
        while n:
            w = ptr8(ptr32(out)[0] * zw + c)
            out = ptr8(4 + int(out))
            x = ptr8(row)
            if many:
                while last > int(x):
                    w = ptr8(x[0] * out[0] + int(w))
                    w = ptr8(x[1] * out[1] + int(w))
                    w = ptr8(x[2] * out[2] + int(w))
                    w = ptr8(x[3] * out[3] + int(w))
                    w = ptr8(x[16] * out[4] + int(w))
                    w = ptr8(x[17] * out[5] + int(w))
                    w = ptr8(x[18] * out[6] + int(w))
                    w = ptr8(x[19] * out[7] + int(w))
                    x = ptr8(32 + int(x))
                    w = ptr8(x[0] * out[8] + int(w))
                    w = ptr8(x[1] * out[9] + int(w))
                    w = ptr8(x[2] * out[10] + int(w))
                    w = ptr8(x[3] * out[11] + int(w))
                    w = ptr8(x[16] * out[12] + int(w))
                    w = ptr8(x[17] * out[13] + int(w))
                    w = ptr8(x[18] * out[14] + int(w))
                    w = ptr8(x[19] * out[15] + int(w))
                    x = ptr8(32 + int(x))
                    w = ptr8(x[0] * out[16] + int(w))
                    w = ptr8(x[1] * out[17] + int(w))
                    w = ptr8(x[2] * out[18] + int(w))
                    w = ptr8(x[3] * out[19] + int(w))
                    w = ptr8(x[16] * out[20] + int(w))
                    w = ptr8(x[17] * out[21] + int(w))
                    w = ptr8(x[18] * out[22] + int(w))
                    w = ptr8(x[19] * out[23] + int(w))
                    x = ptr8(32 + int(x))
                    out = ptr8(24 + int(out))
            if sixteen:
                w = ptr8(x[0] * out[0] + int(w))
                w = ptr8(x[1] * out[1] + int(w))
                w = ptr8(x[2] * out[2] + int(w))
                w = ptr8(x[3] * out[3] + int(w))
                w = ptr8(x[16] * out[4] + int(w))
                w = ptr8(x[17] * out[5] + int(w))
                w = ptr8(x[18] * out[6] + int(w))
                w = ptr8(x[19] * out[7] + int(w))
                x = ptr8(32 + int(x))
                out = ptr8(8 + int(out))
            if eight:
                w = ptr8(x[0] * out[0] + int(w))
                w = ptr8(x[1] * out[1] + int(w))
                w = ptr8(x[2] * out[2] + int(w))
                w = ptr8(x[3] * out[3] + int(w))
                w = ptr8(x[16] * out[4] + int(w))
                w = ptr8(x[17] * out[5] + int(w))
                w = ptr8(x[18] * out[6] + int(w))
                w = ptr8(x[19] * out[7] + int(w))
                x = ptr8(32 + int(x))
                out = ptr8(8 + int(out))
            if four:
                while end > int(x):
                    w = ptr8(x[0] * out[0] + int(w))
                    w = ptr8(x[1] * out[1] + int(w))
                    w = ptr8(x[2] * out[2] + int(w))
                    w = ptr8(x[3] * out[3] + int(w))
                    x = ptr8(step + int(x))
                    out = ptr8(4 + int(out))
            x = ptr8((int(w) >> shift) * factor + addend)
            if int(w) >> bits or not 1966080 & int(x):
                w = ptr8(int(w) - limit)
                x = ptr8(f)
                if f > 25:
                    w = ptr8(int(w) >> (f - 25))
                    x = ptr8(0)
                v = (1 << 25) >> int(x)
                if int(w) > v:
                    w = ptr8(v)
                if int(w) < 0 - v:
                    w = ptr8(0 - v)
                w = ptr8(int(w) << int(x))
                low = table[1] & 32767
                v = int(w) & 4095
                x = ptr8((table[1] >> 15) & 65535)
                w = ptr8(int(w) >> 12)
                lowest = v * low
                low = int(w) * low + (lowest >> 12)
                v = v * int(x) + (low >> 3)
                w = ptr8(int(w) * int(x) + (v >> 12))
                v = ((lowest | v) & 4095) | (low & 7)
                x = ptr8(1 if v else (int(w) >> 20) & 1)
                x = ptr8((int(w) + 524287 + int(x)) >> 20)
                x = ptr8(int(x) + p[9] - bias)
            else:
                x = ptr8(int(x) >> 21)
            if least > int(x):
                x = ptr8(least)
            elif most < int(x):
                x = ptr8(most)
            w = ptr8(at)
            w[0] = int(x)
            at = pitch + int(w)
            n -= 1
        place += p[7]
        table = ptr32(8 + int(table))
        k += 1
        row += 4
        if not k & of_tile:
            row += span - step
