"""HardSigmoid and HardSwish, on the bits of float32. Written once, for Python and viper.

x, out  float32 as words
p       lo, hi: range of items; slope, 2**29 to 2**30; reach; offset, below 2**30; 1: times x

    t = slope * |x| * 2**(reach - 157) of x >= 0, minus that of x < 0, plus offset
    out = t / 2**30, limited to 0 .. 1, or x times that

Products are cut off to 30 bits. |x| whose exponent exceeds reach is beyond the limits.

Made from tools/loops/common/hard.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def hard32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    i = p[0]
    end = p[1]
    slope = p[2]
    reach = p[3]
    offset = p[4]
    unit = 1  # kept from the folding of constants, which makes big integers of them
    b = 0
    nan = (unit << 31) - (unit << 22)
    top = unit << 31
    unit = unit << 30
    while i < end:
        g = x[i]
        v = 0
        sign = (g >> 31) & 1
        e = (g >> 23) & 255
        m = g & 0x7FFFFF
        if e == 255 and m:
            out[i] = nan
            i += 1
            continue
        if e:
            m = m | 0x800000
        else:
            e = 1
        s = reach - e
        t = 0 if sign else unit
        if s >= 0:
            b = (m & 4095) * (slope & 32767) >> 12
            b = ((m >> 12) * (slope & 32767) + ((m & 4095) * (slope >> 15) << 3) + b) >> 12
            b += (m >> 12) * (slope >> 15) << 3
            b = b << 1 >> s if s < 31 else 0
            if sign:
                t = offset - b if b < offset else 0
            elif b < unit - offset:
                t = offset + b
        if p[5]:
            b = (m & 4095) * (t & 32767) >> 12
            b = ((m >> 12) * (t & 32767) + ((m & 4095) * (t >> 15) << 3) + b) >> 12
            b += (m >> 12) * (t >> 15) << 3
            t = b
        else:
            sign = 0
            e = 126
        while t < 1 << 29 and t:
            t = t << 1
            e -= 1
        b = 6
        if e < 1 or t == 0:
            b = 7 - e
            e = 1
            if b < 0 or b > 30:
                t = 0
                b = 6
        v = ((t + (1 << b >> 1)) >> b) + ((e - 1) << 23)
        if sign:
            v = v - top
        out[i] = v
        i += 1
