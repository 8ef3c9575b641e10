"""Short block floating point behind the sums: see loops/short. Viper form.

The emitter keeps the first three locals in registers: a sum's size, its exponent and the float's
bits, as if they were addresses. What is rare is left to the common form: results that are
denormal, or beyond the largest float.

Made from tools/loops/viper/short.py by `make loops`:
change that file, not this one.
"""

import micropython

from .. import short as plain
from ..short import align  # noqa: F401  (no loop of many items)


def finish(x, w, out, p):
    if _finish(x, w, out, p):
        plain.finish(x, w, out, p)


@micropython.viper
def _finish(x: ptr32, w: ptr32, out: ptr32, p: ptr32) -> int:
    """1 if it has met a rare result, and stopped there, else 0."""
    sums = int(x) + 4 * p[0]
    first = int(w) + 4 * p[3]
    row = int(out) + 4 * p[4]
    one = 1  # kept from the folding of constants, which makes big integers of them
    half = one << 30
    sign = one << 31
    low = p[11]
    if p[10]:
        low = 0 - low
    high = p[13]
    if p[12]:
        high = 0 - high
    step = 4 * p[6]
    largest = p[14]
    position = 0
    while position < p[1] * p[8]:
        at = row + 4 * (position // p[1] * p[7] + position % p[1] * p[5])
        channel = first
        end = sums + 4 * p[2]
        while True:
            if sums == end:
                break
            x = ptr32(sums)
            w = ptr32(channel)
            x = ptr32(((x[0] - half) >> w[0]) + w[1] - half)
            sums += 4
            channel += 12
            negative = int(x) < 0
            if negative:
                x = ptr32(0 - int(x))
            if int(x):
                w = ptr32(w[2] - 142)
                while int(x) >> 24 == 0:
                    x = ptr32(int(x) << 6)
                    w = ptr32(int(w) - 6)
                if int(x) >> 28 == 0:
                    x = ptr32(int(x) << 3)
                    w = ptr32(int(w) - 3)
                while int(x) >> 30 == 0:
                    x = ptr32(int(x) << 1)
                    w = ptr32(int(w) - 1)
                if int(w) < 0 or int(w) > 253:
                    return 1
                out = ptr32((int(w) << 23) + (int(x) >> 7))
                out = ptr32((((int(x) & 127) + (int(out) & 1) + 63) >> 7) + int(out))
                if negative:
                    out = ptr32(0 - int(out))
            else:
                out = ptr32(0)
            if int(out) < low:
                out = ptr32(low)
            if int(out) > high:
                out = ptr32(high)
            w = ptr32(at)
            at += step
            if largest:
                x = ptr32(w[0])
                if (int(x) >> 31) & 1:
                    x = ptr32(0 - (int(x) & (sign - 1)))
                if int(out) < int(x):
                    out = ptr32(int(x))
            if int(out) < 0:
                out = ptr32(0 - int(out) - sign)
            w[0] = int(out)
        position += 1
        if position % p[1] == 0:
            sums += 4 * p[9] * p[2]
    return 0
