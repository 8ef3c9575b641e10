"""Search of floats among sorted thresholds: see loops/levels. Viper form.

The emitter keeps the first three locals in registers (two in .mpy files): the bits of the element,
in `x` cast to a pointer; in `w` the pointer to the level before the remaining ones; in `out` the
pointer to the element. With n levels, the first comparison reduces their number to one less than
the largest power of two up to n, and each further one halves it.
"""

from .._hints import unroll
from .._viper import ptr8, ptr32


def levels8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    element, at, end = int(x) + 4 * p[_START], int(out) + p[_START], int(out) + p[_END]
    lowest = int(w) - 4
    zero, negative, size = lowest + 4 * p[_NEGATIVE_LEVELS], 0, 1
    while size <= p[_NEGATIVE_LEVELS]:
        negative, size = size, size << 1
    positive, size = 0, 1
    while size <= p[_LEVELS] - p[_NEGATIVE_LEVELS]:
        positive, size = size, size << 1
    past_negative = (p[_NEGATIVE_LEVELS] + 1 - negative) * 4
    past_positive = (p[_LEVELS] - p[_NEGATIVE_LEVELS] + 1 - positive) * 4
    base, infinity = p[_LOW], p[_INFINITY]
    magnitude, of_nan = p[_MAGNITUDE_MASK], p[_NAN]
    while at < end:
        out = ptr32(element)
        x = ptr8(out[0] & magnitude)
        if out[0] >> 31:
            w, size = ptr32(lowest), negative
            if size and w[size] >= int(x):
                w = ptr32(past_negative + int(w))
            if size > 64 and w[64] >= int(x):
                w = ptr32(256 + int(w))
            if size > 32 and w[32] >= int(x):
                w = ptr32(128 + int(w))
            if size > 16:
                for n in unroll(4, -1, -1):
                    if w[1 << n] >= int(x):
                        w = ptr32((4 << n) + int(w))
            else:
                half = size >> 1
                while half:
                    if w[half] >= int(x):
                        w = ptr32(half * 4 + int(w))
                    half = half >> 1
        else:
            w, size = ptr32(zero), positive
            if size and w[size] <= int(x):
                w = ptr32(past_positive + int(w))
            if size > 64 and w[64] <= int(x):
                w = ptr32(256 + int(w))
            if size > 32 and w[32] <= int(x):
                w = ptr32(128 + int(w))
            if size > 16:
                for n in unroll(4, -1, -1):
                    if w[1 << n] <= int(x):
                        w = ptr32((4 << n) + int(w))
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
        at, element = 1 + int(x), 4 + int(out)
