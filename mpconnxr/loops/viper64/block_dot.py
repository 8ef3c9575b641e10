"""Exact sums of mantissas: see loops/block_dot. Viper form for 64-bit words.

What ptr32 reads comes out zero-extended: an item of x gets its sign back, once for two rows of
weights, and only in rows that have a negative one. The emitter keeps the first three locals in
registers: in `x`, as if it were an address, an item, in `w` and `out` two sums.

Made from tools/loops/viper64/block_dot.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def dots(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    row = int(x) + 4 * p[0]
    n = 4 * p[3]
    w_first = int(w) + 4 * p[4]
    items = out
    one = 1  # kept from the folding of constants, which makes big integers of them
    rows = p[1]
    at = p[6]
    while rows:
        end = row + n
        stop = end - 28
        signs = 0
        x = ptr32(row)
        w = ptr32(one << 40)
        while stop > int(x):
            out = ptr32(x[0] + x[1] + x[2] + x[3] + x[4] + x[5] + x[6] + x[7])
            w = ptr32(((int(out) << 32) >> 32) + int(w))
            signs = signs | int(out)
            x = ptr32(32 + int(x))
        while end > int(x):
            out = ptr32(x[0])
            w = ptr32(((int(out) << 32) >> 32) + int(w))
            signs = signs | int(out)
            x = ptr32(4 + int(x))
        signs = signs >> 31  # of eight items that are not negative the sum stays below that
        items[at] = int(w) & 0xFFFFFF
        items[at + 1] = int(w) >> 24
        items[at + 2] = 0
        at += 3
        b = ptr32(w_first)
        m = p[5]
        while m:
            w = ptr32(one << 63)
            out = w
            a = ptr32(row)
            c = b  # of a last row alone this is an empty effort
            if m > 1:
                c = ptr32(n + int(b))
            if signs:
                while int(a) < stop:
                    x = ptr32((a[0] << 32) >> 32)
                    w = ptr32(b[0] * int(x) + int(w))
                    out = ptr32(c[0] * int(x) + int(out))
                    x = ptr32((a[1] << 32) >> 32)
                    w = ptr32(b[1] * int(x) + int(w))
                    out = ptr32(c[1] * int(x) + int(out))
                    x = ptr32((a[2] << 32) >> 32)
                    w = ptr32(b[2] * int(x) + int(w))
                    out = ptr32(c[2] * int(x) + int(out))
                    x = ptr32((a[3] << 32) >> 32)
                    w = ptr32(b[3] * int(x) + int(w))
                    out = ptr32(c[3] * int(x) + int(out))
                    x = ptr32((a[4] << 32) >> 32)
                    w = ptr32(b[4] * int(x) + int(w))
                    out = ptr32(c[4] * int(x) + int(out))
                    x = ptr32((a[5] << 32) >> 32)
                    w = ptr32(b[5] * int(x) + int(w))
                    out = ptr32(c[5] * int(x) + int(out))
                    x = ptr32((a[6] << 32) >> 32)
                    w = ptr32(b[6] * int(x) + int(w))
                    out = ptr32(c[6] * int(x) + int(out))
                    x = ptr32((a[7] << 32) >> 32)
                    w = ptr32(b[7] * int(x) + int(w))
                    out = ptr32(c[7] * int(x) + int(out))
                    a = ptr32(32 + int(a))
                    b = ptr32(32 + int(b))
                    c = ptr32(32 + int(c))
            else:
                while int(a) < stop:
                    x = ptr32(a[0])
                    w = ptr32(b[0] * int(x) + int(w))
                    out = ptr32(c[0] * int(x) + int(out))
                    x = ptr32(a[1])
                    w = ptr32(b[1] * int(x) + int(w))
                    out = ptr32(c[1] * int(x) + int(out))
                    x = ptr32(a[2])
                    w = ptr32(b[2] * int(x) + int(w))
                    out = ptr32(c[2] * int(x) + int(out))
                    x = ptr32(a[3])
                    w = ptr32(b[3] * int(x) + int(w))
                    out = ptr32(c[3] * int(x) + int(out))
                    x = ptr32(a[4])
                    w = ptr32(b[4] * int(x) + int(w))
                    out = ptr32(c[4] * int(x) + int(out))
                    x = ptr32(a[5])
                    w = ptr32(b[5] * int(x) + int(w))
                    out = ptr32(c[5] * int(x) + int(out))
                    x = ptr32(a[6])
                    w = ptr32(b[6] * int(x) + int(w))
                    out = ptr32(c[6] * int(x) + int(out))
                    x = ptr32(a[7])
                    w = ptr32(b[7] * int(x) + int(w))
                    out = ptr32(c[7] * int(x) + int(out))
                    a = ptr32(32 + int(a))
                    b = ptr32(32 + int(b))
                    c = ptr32(32 + int(c))
            while int(a) < end:
                x = ptr32((a[0] << 32) >> 32)
                w = ptr32(b[0] * int(x) + int(w))
                out = ptr32(c[0] * int(x) + int(out))
                a = ptr32(4 + int(a))
                b = ptr32(4 + int(b))
                c = ptr32(4 + int(c))
            items[at] = int(w) & 0xFFFFFF
            items[at + 1] = (int(w) >> 24) & 0xFFFFFF
            items[at + 2] = (int(w) >> 48) & 0xFFFF
            at += 3
            m -= 1
            if m:
                items[at] = int(out) & 0xFFFFFF
                items[at + 1] = (int(out) >> 24) & 0xFFFFFF
                items[at + 2] = (int(out) >> 48) & 0xFFFF
                at += 3
                m -= 1
                b = c
        row += 4 * p[2]
        rows -= 1
