"""Block floating point before the sums: see loops_block. Viper form.

The emitter keeps the first three locals in registers: where an item comes from and goes to, and
its bits. Where rows of columns overlap, items are copied from the row before. What is rare is left
to the common form: blocks of denormals.
"""

import micropython

from . import loops_block
from .loops_block import align, fill, peak  # noqa: F401  (they have less to do)

_LEAST = 25  # exponent of a block in which denormals are 0


def mantissas(x, w, out, p):
    if p[20] < _LEAST:
        loops_block.mantissas(x, w, out, p)
    else:
        _mantissas(x, w, out, p)


@micropython.viper
def _mantissas(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    bias = 1 << 29
    half = 1 << 23
    image = int(x) + 4 * p[0]
    first = int(out) + 4 * p[19]
    column = 4 * p[1] * p[5] * p[6]
    corner = 4 * (p[11] - bias)
    step0 = 4 * p[15]
    step1 = 4 * p[17]
    block = p[20]
    same = 1  # items of a column by which it is ahead of the row before; all: none is the same
    while same < p[6] and same * p[8] < p[13]:
        same += 1
    if same * p[8] != p[13]:
        same = p[6]
    row = 0
    while row < p[12]:
        item = first + row * p[18] * column
        channel = 0
        while channel < p[1]:
            kz = 0
            while kz < p[5]:
                z = p[9] - bias + kz * p[7]
                ky = 0
                while ky < p[6]:
                    y = p[10] - bias + row * p[13] + ky * p[8]
                    line = image
                    end = image
                    if z >= 0 and z < p[2] and y >= 0 and y < p[3]:
                        line += 4 * ((channel * p[2] + z) * p[3] + y) * p[4]
                        end = line + 4 * p[4]
                    w = ptr32(item)
                    ky += 1
                    n0 = 0
                    if row and ky + same <= p[6]:
                        x = ptr32(item + 4 * same - p[18] * column)
                        n1 = p[14] * p[16]
                        while n1:
                            w[0] = x[0]
                            w = ptr32(column + int(w))
                            x = ptr32(column + int(x))
                            n1 -= 1
                        n0 = p[14]
                    item += 4
                    while n0 < p[14]:
                        x = ptr32(line + corner + n0 * step0)
                        n0 += 1
                        n1 = p[16]
                        while n1:
                            m = 0
                            if int(x) >= line and int(x) < end:
                                out = ptr32(x[0])
                                e = block - ((int(out) >> 23) & 255)
                                if e >= 0 and e < 24:
                                    m = (((int(out) & 0x7FFFFF) | half) >> e) + 1
                                    m = m >> 1
                                    m -= m >> 23  # 1 if it was rounded up to HALF
                                    if (int(out) >> 31) & 1:
                                        m = 0 - m
                            w[0] = m
                            w = ptr32(column + int(w))
                            x = ptr32(step1 + int(x))
                            n1 -= 1
                kz += 1
            channel += 1
        row += 1
