"""Dot products of bytes with requantization: see loops_qdot. Viper form.

The emitter keeps the first three locals in registers, and the hot ones of the inner loops are the
two pointers and the sum: so the sum is kept in `out`, as if it were an address.
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
    n = p[3]
    while n:
        table = ptr32(tables + p[1])
        row = weights
        end = first + p[2]
        x = ptr8(first)
        out = ptr8(0)
        if p[14]:
            out = ptr8(ptr32(first - 4)[0])
        else:
            while int(x) < end:
                out = ptr8(int(out) + x[0] + x[1] + x[2] + x[3])
                x = ptr8(int(x) + 4)
        zs = p[8] * int(out)
        k = at
        of_tile = 0
        m = p[4]
        while m:
            x = ptr8(first)
            w = ptr8(row)
            out = ptr8(0)
            if m > 3 or of_tile:
                while int(x) < end - 7:
                    out = ptr8(int(out) + x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3])
                    out = ptr8(
                        int(out) + x[4] * w[16] + x[5] * w[17] + x[6] * w[18] + x[7] * w[19]
                    )
                    x = ptr8(int(x) + 8)
                    w = ptr8(int(w) + 32)
                if int(x) < end:
                    out = ptr8(int(out) + x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3])
                row += 4
                of_tile += 1
                if of_tile == 4:
                    of_tile = 0
                    row += p[2] * 4 - 16
            else:
                while int(x) < end:
                    out = ptr8(int(out) + x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3])
                    x = ptr8(int(x) + 4)
                    w = ptr8(int(w) + 4)
                row += p[2]
            v = int(out) - zs + ((table[0] ^ sign) - sign)
            f = table[1] & 63
            if f > 31:
                v = v >> (f - 32)
                f = 0
            limit = (1 << 25) >> f
            if v > limit:
                v = limit
            if v < 0 - limit:
                v = 0 - limit
            v = v << f
            high = (table[1] >> 20) & 4095
            low = (table[1] >> 8) & 4095
            part = v & 4095
            v = v >> 12
            part = v * low + part * high + ((part * low) >> 12) + 2048
            v = v * high + (part >> 12)
            v = (v + 32767 + ((v >> 16) & 1)) >> 16
            v += p[9] - bias
            if v < p[10] - bias:
                v = p[10] - bias
            if v > p[11] - bias:
                v = p[11] - bias
            items[k] = v
            k += p[7]
            table = ptr32(int(table) + 8)
            m -= 1
        first += p[13]
        at += p[6]
        n -= 1


@micropython.viper
def qdots32(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    items = out
    first = int(x) + p[12]
    weights = int(w)
    at = p[5]
    n = p[3]
    while n:
        table = ptr32(weights + p[1])
        row = weights + p[0]
        end = first + p[2]
        x = ptr8(first)
        out = ptr32(0)
        if p[14]:
            out = ptr32(ptr32(first - 4)[0])
        else:
            while int(x) < end:
                out = ptr32(int(out) + x[0] + x[1] + x[2] + x[3])
                x = ptr8(int(x) + 4)
        zs = p[8] * int(out)
        k = at
        of_tile = 0
        m = p[4]
        while m:
            x = ptr8(first)
            w = ptr8(row)
            out = ptr32(0)
            if m > 3 or of_tile:
                while int(x) < end:
                    out = ptr32(int(out) + x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3])
                    x = ptr8(int(x) + 4)
                    w = ptr8(int(w) + 16)
                row += 4
                of_tile += 1
                if of_tile == 4:
                    of_tile = 0
                    row += p[2] * 4 - 16
            else:
                while int(x) < end:
                    out = ptr32(int(out) + x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3])
                    x = ptr8(int(x) + 4)
                    w = ptr8(int(w) + 4)
                row += p[2]
            items[k] = int(out) - zs + table[0] + p[9] * table[1]
            k += p[7]
            table = ptr32(int(table) + 8)
            m -= 1
        first += p[13]
        at += p[6]
        n -= 1
