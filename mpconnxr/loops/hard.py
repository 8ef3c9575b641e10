"""HardSigmoid and HardSwish of float32, on the bits.

x and out hold float32 as words and may share memory. w is not read.

    t = offset + slope * |x| * 2**(reach - 157), or minus the product where x < 0
    out = t / 2**30, clipped to 0 .. 1, or x times that if is_swish

Products are truncated to 30 bits. |x| with an exponent above reach lies beyond the limits.
"""

from ._floats import first_bit
from ._hints import inline

# Parameters of hard32
_START = const(0)  # first element [elements] 0..
_END = const(1)  # end, exclusive [elements] 0..
_SLOPE = const(2)  # [value] 2**29..2**30
_REACH = const(3)  # largest exponent of x between the limits [exponent] 0..254
_OFFSET = const(4)  # 30 fraction bits [value] 0..2**30 - 1
_IS_SWISH = const(5)  # multiply by x [flag] 0, 1


@inline
def product(m, a):
    """Return v = m * a // 2**24, of 24 and 30 bits."""
    v = (m & 4095) * (a & 32767) >> 12
    v = ((m >> 12) * (a & 32767) + ((m & 4095) * (a >> 15) << 3) + v) >> 12
    v += (m >> 12) * (a >> 15) << 3
    return v


def hard32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute the function of each element.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    i, end, slope, reach, offset = p[_START], p[_END], p[_SLOPE], p[_REACH], p[_OFFSET]
    unit, b = 1, 0  # variables: constant folding would make big integers
    nan, top, unit = (unit << 31) - (unit << 22), unit << 31, unit << 30
    while i < end:
        bits, v = x[i], 0
        sign, e, m = (bits >> 31) & 1, (bits >> 23) & 255, bits & 0x7FFFFF
        if e == 255 and m:
            out[i] = nan
            i += 1
            continue
        m, e = first_bit(m, e)
        shift = reach - e
        result = 0 if sign else unit
        if shift >= 0:
            b = product(m, slope)
            b = b << 1 >> shift if shift < 31 else 0
            if sign:
                result = offset - b if b < offset else 0
            elif b < unit - offset:
                result = offset + b
        if p[_IS_SWISH]:
            b = product(m, result)
            result = b
        else:
            sign, e = 0, 126
        while result < 1 << 29 and result:
            result = result << 1
            e -= 1
        b = 6
        if e < 1 or result == 0:
            b, e = 7 - e, 1
            if b < 0 or b > 30:
                result, b = 0, 6
        v = ((result + (1 << b >> 1)) >> b) + ((e - 1) << 23)
        if sign:
            v = v - top
        out[i] = v
        i += 1
