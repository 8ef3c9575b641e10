"""Copies of planes with padding: see loops/planes. Viper form.

The emitter keeps the first three locals in registers (two in .mpy files): the input pointer, the
output pointer (in `w`), and in `out`, cast to a pointer, the flip.
"""

from .._bytes import copy
from .._viper import ptr8, ptr32


def planes(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    w, out, first = ptr8(int(out) + p[_OUT_START]), ptr8(p[_FLIP]), int(x) + p[_X_START]
    padding, stride = p[_PADDING], p[_X_COLUMN_STRIDE]
    for planes in range(p[_PLANES], 0, -1):
        row = p[_FIRST_ROW] - (1 << 29)
        for rows_left in range(p[_OUT_ROWS], 0, -1):
            row_end = p[_OUT_COLUMNS] + int(w)
            if row >= 0 and row < p[_ROWS]:
                end = p[_LEFT_PADDING] + int(w)
                while int(w) < end:
                    w[0] = padding
                    w = ptr8(1 + int(w))
                end, x = p[_COLUMNS] + int(w), ptr8(row * p[_X_ROW_STRIDE] + first)
                if stride == 1:
                    several = end - 7
                    while int(w) < several:
                        w = copy(x, w, out, 8)
                        x = ptr8(8 + int(x))
                while int(w) < end:
                    w[0] = x[0] ^ int(out)
                    w, x = ptr8(1 + int(w)), ptr8(stride + int(x))
            while int(w) < row_end:
                w[0] = padding
                w = ptr8(1 + int(w))
            row += 1
        first += p[_X_PLANE_STRIDE]
