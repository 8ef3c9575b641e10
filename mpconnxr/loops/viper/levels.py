"""A search for floats among sorted ones: see loops/levels. Viper form.

The emitter keeps the first three locals in registers, in .mpy files two: the item's bits, in `x`
as if they were an address, in `w` the level before those that are left, in `out` the item. Of n
levels, with the greatest power of two that is at most n, the first look leaves one less than that
power, and each further one halves what is left.

Made from tools/loops/viper/levels.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def levels8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    item = int(x) + 4 * p[0]
    at = int(out) + p[0]
    end = int(out) + p[1]
    lowest = int(w) - 4
    zero = lowest + 4 * p[2]
    negative = 0
    size = 1
    while size <= p[2]:
        negative = size
        size = size << 1
    positive = 0
    size = 1
    while size <= p[3] - p[2]:
        positive = size
        size = size << 1
    past_negative = (p[2] + 1 - negative) * 4
    past_positive = (p[3] - p[2] + 1 - positive) * 4
    base = p[4]
    infinity = p[5]
    magnitude = p[6]
    of_nan = p[7]
    while at < end:
        out = ptr32(item)
        x = ptr8(out[0] & magnitude)
        if out[0] >> 31:
            w = ptr32(lowest)
            size = negative
            if size and w[size] >= int(x):
                w = ptr32(past_negative + int(w))
            if size > 64 and w[64] >= int(x):
                w = ptr32(256 + int(w))
            if size > 32 and w[32] >= int(x):
                w = ptr32(128 + int(w))
            if size > 16:
                if w[16] >= int(x):
                    w = ptr32((64) + int(w))
                if w[8] >= int(x):
                    w = ptr32((32) + int(w))
                if w[4] >= int(x):
                    w = ptr32((16) + int(w))
                if w[2] >= int(x):
                    w = ptr32((8) + int(w))
                if w[1] >= int(x):
                    w = ptr32((4) + int(w))
            else:
                half = size >> 1
                while half:
                    if w[half] >= int(x):
                        w = ptr32(half * 4 + int(w))
                    half = half >> 1
        else:
            w = ptr32(zero)
            size = positive
            if size and w[size] <= int(x):
                w = ptr32(past_positive + int(w))
            if size > 64 and w[64] <= int(x):
                w = ptr32(256 + int(w))
            if size > 32 and w[32] <= int(x):
                w = ptr32(128 + int(w))
            if size > 16:
                if w[16] <= int(x):
                    w = ptr32((64) + int(w))
                if w[8] <= int(x):
                    w = ptr32((32) + int(w))
                if w[4] <= int(x):
                    w = ptr32((16) + int(w))
                if w[2] <= int(x):
                    w = ptr32((8) + int(w))
                if w[1] <= int(x):
                    w = ptr32((4) + int(w))
            else:
                half = size >> 1
                while half:
                    if w[half] <= int(x):
                        w = ptr32(half * 4 + int(w))
                    half = half >> 1
        w = ptr32(((int(w) - lowest) >> 2) + base)
        if infinity < int(x):
            w = ptr32(of_nan)
        x = ptr8(at)
        x[0] = int(w)
        at = 1 + int(x)
        item = 4 + int(out)
