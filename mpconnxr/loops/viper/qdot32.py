"""Dot products of bytes in int32: see loops/qdot32. Viper form, as loops/viper/qdot.py has it.

Made from tools/loops/viper/qdot32.py by `make loops`:
change that file, not this one.
"""

import micropython


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
                x = ptr8(4 + int(x))
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
                    out = ptr32(x[0] * w[0] + int(out))
                    out = ptr32(x[1] * w[1] + int(out))
                    out = ptr32(x[2] * w[2] + int(out))
                    out = ptr32(x[3] * w[3] + int(out))
                    x = ptr8(4 + int(x))
                    w = ptr8(16 + int(w))
                row += 4
                of_tile += 1
                if of_tile == 4:
                    of_tile = 0
                    row += p[2] * 4 - 16
            else:
                while int(x) < end:
                    out = ptr32(x[0] * w[0] + int(out))
                    out = ptr32(x[1] * w[1] + int(out))
                    out = ptr32(x[2] * w[2] + int(out))
                    out = ptr32(x[3] * w[3] + int(out))
                    x = ptr8(4 + int(x))
                    w = ptr8(4 + int(w))
                row += p[2]
            items[k] = int(out) - zs + table[0] + p[9] * table[1]
            k += p[7]
            table = ptr32(8 + int(table))
            m -= 1
        first += p[13]
        at += p[6]
        n -= 1
