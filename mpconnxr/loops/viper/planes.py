"""Copies rows of planes with padding: see loops/planes. Viper form.

The emitter keeps the first three locals in registers, in .mpy files two: where it reads, where it
writes (in `w`), and in `out`, as if it were an address, the flip.

Made from tools/loops/viper/planes.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def planes(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    w = ptr8(int(out) + p[10])
    out = ptr8(p[12])
    first = int(x) + p[0]
    padding = p[13]
    step = p[6]
    planes = p[1]
    while planes:
        y = p[11] - (1 << 29)
        rows = p[4]
        while rows:
            row_end = p[7] + int(w)
            if y >= 0 and y < p[3]:
                end = p[8] + int(w)
                while int(w) < end:
                    w[0] = padding
                    w = ptr8(1 + int(w))
                end = p[9] + int(w)
                x = ptr8(y * p[5] + first)
                if step == 1:
                    several = end - 7
                    while int(w) < several:
                        w[0] = x[0] ^ int(out)
                        w = ptr8(1 + int(w))
                        w[0] = x[1] ^ int(out)
                        w = ptr8(1 + int(w))
                        w[0] = x[2] ^ int(out)
                        w = ptr8(1 + int(w))
                        w[0] = x[3] ^ int(out)
                        w = ptr8(1 + int(w))
                        w[0] = x[4] ^ int(out)
                        w = ptr8(1 + int(w))
                        w[0] = x[5] ^ int(out)
                        w = ptr8(1 + int(w))
                        w[0] = x[6] ^ int(out)
                        w = ptr8(1 + int(w))
                        w[0] = x[7] ^ int(out)
                        w = ptr8(1 + int(w))
                        x = ptr8(8 + int(x))
                while int(w) < end:
                    w[0] = x[0] ^ int(out)
                    w = ptr8(1 + int(w))
                    x = ptr8(step + int(x))
            while int(w) < row_end:
                w[0] = padding
                w = ptr8(1 + int(w))
            y += 1
            rows -= 1
        first += p[2]
        planes -= 1
