"""Largest byte of each window: see loops/maxima. Viper form.

The emitter keeps the first three locals in registers: where it reads, and as if they were
addresses the largest so far, in `w`, and the flip, in `out`.
"""

from .._viper import ptr8, ptr32


def maxima8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    bias, width, kw = 1 << 29, p[4], p[6]
    step, plane, at = p[8], int(x) + p[0], int(out) + p[1]
    out = ptr8(p[13])
    for planes in range(p[2], 0, -1):
        y = bias - p[9]
        for oy in range(p[11], 0, -1):
            top, bottom = y, y + p[5]
            top = max(top, 0)
            bottom = min(bottom, p[3])
            first, behind = plane + top * width, plane + bottom * width
            left = bias - p[10]
            for ox in range(p[12], 0, -1):
                begin, span = left, kw
                if left < 0:
                    span += left
                    begin = 0
                if begin + span > width:
                    span = width - begin
                w = ptr8(0)
                for row in range(first + begin, behind, width):
                    end, x = row + span, ptr8(row)
                    while int(x) < end:
                        v = x[0] ^ int(out)
                        if v > int(w):
                            w = ptr8(v)
                        x = ptr8(1 + int(x))
                x = ptr8(at)
                x[0] = int(w) ^ int(out)
                at = 1 + int(x)
                left += step
            y += p[7]
        plane += p[3] * width
