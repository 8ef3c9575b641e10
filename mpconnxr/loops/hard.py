"""HardSigmoid and HardSwish, on the bits of float32. Written once, for Python and viper.

x, out  float32 as words
p       lo, hi: range of items; slope, 2**29 to 2**30; reach; offset, below 2**30; 1: times x

    t = slope * |x| * 2**(reach - 157) of x >= 0, minus that of x < 0, plus offset
    out = t / 2**30, limited to 0 .. 1, or x times that

Products are cut off to 30 bits. |x| whose exponent exceeds reach is beyond the limits.
"""

from ._floats import first_bit
from ._hints import inline


@inline
def product(m, a):
    """Return m * a // 2**24, of 24 and 30 bits."""
    b = (m & 4095) * (a & 32767) >> 12
    b = ((m >> 12) * (a & 32767) + ((m & 4095) * (a >> 15) << 3) + b) >> 12
    b += (m >> 12) * (a >> 15) << 3
    return b


def hard32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    i, end, slope, reach, offset = p[:5]
    unit, b = 1, 0  # kept from the folding of constants, which makes big integers of them
    nan, top, unit = (unit << 31) - (unit << 22), unit << 31, unit << 30
    while i < end:
        g, v = x[i], 0
        sign, e, m = (g >> 31) & 1, (g >> 23) & 255, g & 0x7FFFFF
        if e == 255 and m:
            out[i] = nan
            i += 1
            continue
        m, e = first_bit(m, e)
        s = reach - e
        t = 0 if sign else unit
        if s >= 0:
            b = product(m, slope)
            b = b << 1 >> s if s < 31 else 0
            if sign:
                t = offset - b if b < offset else 0
            elif b < unit - offset:
                t = offset + b
        if p[5]:
            b = product(m, t)
            t = b
        else:
            sign, e = 0, 126
        while t < 1 << 29 and t:
            t = t << 1
            e -= 1
        b = 6
        if e < 1 or t == 0:
            b, e = 7 - e, 1
            if b < 0 or b > 30:
                t, b = 0, 6
        v = ((t + (1 << b >> 1)) >> b) + ((e - 1) << 23)
        if sign:
            v = v - top
        out[i] = v
        i += 1
