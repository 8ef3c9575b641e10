"""Copies rows of planes with padding: see loops/planes. Viper form.

The emitter keeps the first three locals in registers, in .mpy files two: where it reads, where it
writes (in `w`), and in `out`, as if it were an address, the flip.
"""

from .._bytes import copy
from .._viper import ptr8, ptr32


def planes(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    w, out, first = ptr8(int(out) + p[10]), ptr8(p[12]), int(x) + p[0]
    padding, step = p[13], p[6]
    for planes in range(p[1], 0, -1):
        y = p[11] - (1 << 29)
        for rows in range(p[4], 0, -1):
            row_end = p[7] + int(w)
            if y >= 0 and y < p[3]:
                end = p[8] + int(w)
                while int(w) < end:
                    w[0] = padding
                    w = ptr8(1 + int(w))
                end, x = p[9] + int(w), ptr8(y * p[5] + first)
                if step == 1:
                    several = end - 7
                    while int(w) < several:
                        w = copy(x, w, out, 8)
                        x = ptr8(8 + int(x))
                while int(w) < end:
                    w[0] = x[0] ^ int(out)
                    w, x = ptr8(1 + int(w)), ptr8(step + int(x))
            while int(w) < row_end:
                w[0] = padding
                w = ptr8(1 + int(w))
            y += 1
        first += p[2]
