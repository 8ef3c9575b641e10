"""Softmax of quantized bytes by a table of exponentials. Written once, for Python and viper.

    x, out  bytes (outer, n, inner);  w  256 words: exp(-d * x_scale), of the distance d from the
            largest of a line
    p    lo and hi (range of lines, outer * inner), n, inner, flip, factor, shift, zy

    out = limited(round(w[d] * factor / (sum of the line's w << shift)) + zy)

limited to 0 .. 255. Signed bytes are made unsigned by flip, also those of out.
"""

import micropython

COMMON = True


@micropython.viper
def softmax8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    flip = p[4]
    line = p[0]
    while line < p[1]:
        first = line // p[3] * p[2] * p[3] + line % p[3]
        end = first + p[2] * p[3]
        largest = 0
        i = first
        while i < end:
            v = x[i] ^ flip
            if v > largest:
                largest = v
            i += p[3]
        total = 0
        i = first
        while i < end:
            total += w[largest - (x[i] ^ flip)]
            i += p[3]
        total = total << p[6]
        i = first
        while i < end:
            v = (w[largest - (x[i] ^ flip)] * p[5] + (total >> 1)) // total + p[7]
            if v > 255:
                v = 255
            out[i] = v ^ flip
            i += p[3]
        line += 1
