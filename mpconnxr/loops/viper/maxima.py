"""Largest byte of each window: see loops/maxima. Viper form.

The emitter keeps the first three locals in registers: where it reads, and as if they were
addresses the largest so far, in `w`, and the flip, in `out`.

Made from tools/loops/viper/maxima.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def maxima8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    bias = 1 << 29
    width = p[4]
    kw = p[6]
    step = p[8]
    plane = int(x) + p[0]
    at = int(out) + p[1]
    out = ptr8(p[13])
    planes = p[2]
    while planes:
        y = bias - p[9]
        oy = p[11]
        while oy:
            top = y
            bottom = y + p[5]
            if top < 0:
                top = 0
            if bottom > p[3]:
                bottom = p[3]
            first = plane + top * width
            behind = plane + bottom * width
            left = bias - p[10]
            ox = p[12]
            while ox:
                begin = left
                span = kw
                if left < 0:
                    span += left
                    begin = 0
                if begin + span > width:
                    span = width - begin
                w = ptr8(0)
                row = first + begin
                while row < behind:
                    end = row + span
                    x = ptr8(row)
                    while int(x) < end:
                        v = x[0] ^ int(out)
                        if v > int(w):
                            w = ptr8(v)
                        x = ptr8(1 + int(x))
                    row += width
                x = ptr8(at)
                x[0] = int(w) ^ int(out)
                at = 1 + int(x)
                left += step
                ox -= 1
            y += p[7]
            oy -= 1
        plane += p[3] * width
        planes -= 1
