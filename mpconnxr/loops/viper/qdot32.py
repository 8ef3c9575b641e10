"""Dot products of bytes in int32: see loops/qdot32. Viper form, as loops/viper/qdot.py has it."""

from .._bytes import products_of_words
from .._viper import ptr8, ptr32


def qdots32(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    items, first, weights = out, int(x) + p[12], int(w)
    at = p[5]
    for n in range(p[3], 0, -1):
        table, row, end = ptr32(weights + p[1]), weights + p[0], first + p[2]
        x, out = ptr8(first), ptr32(0)
        if p[14]:
            out = ptr32(ptr32(first - 4)[0])
        else:
            while int(x) < end:
                out = ptr32(int(out) + x[0] + x[1] + x[2] + x[3])
                x = ptr8(4 + int(x))
        zs, k, of_tile = p[8] * int(out), at, 0
        for m in range(p[4], 0, -1):
            x, w, out = ptr8(first), ptr8(row), ptr32(0)
            if m > 3 or of_tile:
                while int(x) < end:
                    out = products_of_words(out, x, w, 4)
                    x, w = ptr8(4 + int(x)), ptr8(16 + int(w))
                row += 4
                of_tile += 1
                if of_tile == 4:
                    of_tile = 0
                    row += p[2] * 4 - 16
            else:
                while int(x) < end:
                    out = products_of_words(out, x, w, 4)
                    x, w = ptr8(4 + int(x)), ptr8(4 + int(w))
                row += p[2]
            items[k] = int(out) - zs + table[0] + p[9] * table[1]
            k += p[7]
            table = ptr32(8 + int(table))
        first += p[13]
        at += p[6]
