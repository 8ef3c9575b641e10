"""Block floating point before the sums: see loops/block. Viper form.

The emitter keeps the first three locals in registers, in .mpy files two: where a float is read, as
if it were an address its bits (in `w`), and where the mantissa is written. Which of a row's floats
lie outside of the image is known before they are read. Where bands of columns overlap, items are
copied from the band before.
"""

from .._hints import far
from .._viper import ptr32
from ..block import align, fill, peak  # noqa: F401  (short)


def mantissas(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    bias, half, plane = 1 << 29, 1 << 23, int(x) + 4 * p[0]
    band, size = int(out) + 4 * p[19], p[1] * p[5] * p[6]
    step = 4 * size  # from a row's column to the next one
    line_size, x0, y0 = 4 * p[4], p[11] - bias, p[10] - bias
    n1, dx = p[16], p[17]
    x_step, span, most = 4 * dx, (n1 - 1) * dx, p[20]
    is_small = 1 if most < 25 else 0  # else denormals are 0
    same = 1  # items of a column by which it is ahead of the band before; all: none is the same
    while same < p[6] and same * p[8] < p[13]:
        same += 1
    if same * p[8] != p[13]:
        same = p[6]
    for bands in far(range(p[12], 0, -1)):
        row = ky = kz = first_z = 0
        while row < size:
            y, z = y0 + ky * p[8], p[9] - bias + kz * p[7]
            line = ((first_z + z) * p[3] + y) * line_size + plane
            inside = 1 if z >= 0 and z < p[2] and y >= 0 and y < p[3] else 0
            out, xx, n0 = ptr32(band + 4 * row), x0, p[14]
            if bands < p[12] and ky + same < p[6]:
                x = ptr32(4 * same - p[18] * step + int(out))
                for n in range(n0 * n1, 0, -1):
                    out[0] = x[0]
                    out, x = ptr32(step + int(out)), ptr32(step + int(x))
                n0 = 0
            while n0:
                lead, last = 0, n1
                if inside == 0:
                    lead = n1
                elif xx < 0 or xx + span >= p[4]:
                    lead = n1
                    if dx:
                        lead = (dx - 1 - xx) // dx if xx < 0 else 0
                        last = (p[4] - 1 - xx) // dx + 1
                        lead = min(lead, n1)
                        last = max(min(last, n1), lead)
                for n in range(lead, 0, -1):
                    out[0] = 0
                    out = ptr32(step + int(out))
                x = ptr32(4 * xx + lead * x_step + line)
                for n in range(last - lead, 0, -1):
                    w = ptr32(x[0])
                    if int(w):
                        e = most - ((int(w) >> 23) & 255)
                        v = (int(w) & 0x7FFFFF) | half
                        if is_small and e == most:
                            v -= half
                            e -= 1
                        if e >> 5:
                            v = 0
                        else:
                            v = ((v >> e) + 1) >> 1
                            if not e:
                                v -= v >> 23
                        if int(w) >> 31:
                            v = 0 - v
                        w = ptr32(v)
                    out[0] = int(w)
                    out, x = ptr32(step + int(out)), ptr32(x_step + int(x))
                for n in range(n1 - last, 0, -1):
                    out[0] = 0
                    out = ptr32(step + int(out))
                xx += p[15]
                n0 -= 1
            row += 1
            ky += 1
            if ky == p[6]:
                ky = 0
                kz += 1
                if kz == p[5]:
                    kz = 0
                    first_z += p[2]
        band += p[18] * step
        y0 += p[13]
