"""Dot products of unsigned bytes: see loops_dot_u8. Viper form.

The emitter keeps the first three locals in registers, and the hot ones of the inner loop are the
two pointers and the sum: so that loop is a function of its own, called once a row.
"""

import micropython


@micropython.viper
def _dot(x: ptr8, w: ptr8, total: int, n: int) -> int:
    end = int(x) + n
    stop = end - 7
    while int(x) < stop:
        total += x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3]
        total += x[4] * w[4] + x[5] * w[5] + x[6] * w[6] + x[7] * w[7]
        x = ptr8(int(x) + 8)
        w = ptr8(int(w) + 8)
    while int(x) < end:
        total += x[0] * w[0]
        x = ptr8(int(x) + 1)
        w = ptr8(int(w) + 1)
    return total


@micropython.viper
def dots_u8(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    row = ptr8(int(x) + p[0])
    n = p[1]
    at = p[2]
    w = ptr8(int(w) + p[4])
    m = p[5]
    while m:
        out[at] = int(_dot(row, w, 0, n))
        w = ptr8(int(w) + n)
        at += p[3]
        m -= 1


@micropython.viper
def sum_u8(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    total = 0
    i = p[0]
    end = i + p[1]
    while i < end:
        total += x[i]
        i += 1
    at = p[2]
    out[at] = total
