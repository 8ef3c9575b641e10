"""Exact sums of mantissas: see loops/block_dot. Viper form for 64-bit words.

What ptr32 reads comes out zero-extended: an item of x gets its sign back, once for two rows of
weights, and only in rows that have a negative one. The emitter keeps the first three locals in
registers: in `x`, as if it were an address, an item, in `w` and `out` two sums.
"""

from .._hints import unroll
from .._viper import ptr32
from .._words import put_limbs


def dots(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    row, n, w_first = int(x) + 4 * p[0], 4 * p[3], int(w) + 4 * p[4]
    items = out
    one = 1  # kept from the folding of constants, which makes big integers of them
    rows, at = p[1], p[6]
    while rows:
        end = row + n
        stop, signs, x = end - 28, 0, ptr32(row)
        w = ptr32(one << 40)
        while stop > int(x):
            out = ptr32(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7])
            w = ptr32(((int(out) << 32) >> 32) + int(w))
            signs, x = signs | int(out), ptr32(32 + int(x))
        while end > int(x):
            out = ptr32(x[0])
            w = ptr32(((int(out) << 32) >> 32) + int(w))
            signs, x = signs | int(out), ptr32(4 + int(x))
        signs = signs >> 31  # of eight items that are not negative the sum stays below that
        items[at] = int(w) & 0xFFFFFF
        items[at + 1] = int(w) >> 24
        items[at + 2] = 0
        at += 3
        b, m = ptr32(w_first), p[5]
        while m:
            w = ptr32(one << 63)
            out, a = w, ptr32(row)
            c = b  # of a last row alone this is an empty effort
            if m > 1:
                c = ptr32(n + int(b))
            if signs:
                while int(a) < stop:
                    for i in unroll(8):
                        x = ptr32((a[i] << 32) >> 32)
                        w = ptr32(b[i] * int(x) + int(w))
                        out = ptr32(c[i] * int(x) + int(out))
                    a, b = ptr32(32 + int(a)), ptr32(32 + int(b))
                    c = ptr32(32 + int(c))
            else:
                while int(a) < stop:
                    for i in unroll(8):
                        x = ptr32(a[i])
                        w = ptr32(b[i] * int(x) + int(w))
                        out = ptr32(c[i] * int(x) + int(out))
                    a, b = ptr32(32 + int(a)), ptr32(32 + int(b))
                    c = ptr32(32 + int(c))
            while int(a) < end:
                x = ptr32((a[0] << 32) >> 32)
                w = ptr32(b[0] * int(x) + int(w))
                out = ptr32(c[0] * int(x) + int(out))
                a, b = ptr32(4 + int(a)), ptr32(4 + int(b))
                c = ptr32(4 + int(c))
            at = put_limbs(items, at, int(w))
            m -= 1
            if m:
                at = put_limbs(items, at, int(out))
                m -= 1
                b = c
        row += 4 * p[2]
        rows -= 1
