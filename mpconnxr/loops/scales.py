"""Products of float32 with one factor, on the bits, rounded half to even.

    out[i] = x[x_start] * w[i]

x, w and out hold float32 as words. Denormal products are 0; overflow gives inf.
"""

# Parameters of scales32
_X_START = const(0)  # index of the factor [elements] 0..
_ELEMENTS = const(1)  # of w and out [elements] 0..
_MAGNITUDE_MASK = const(2)  # all bits except the sign [mask] 2**31 - 1


def scales32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Multiply the elements of w by the factor.

    Access:
        reads x[x_start : x_start + 1]
        reads w[0 : elements]
        writes out[0 : elements]
    """
    i = p[_X_START]
    factor = x[i]
    for i in range(p[_ELEMENTS]):
        word = w[i]
        e = ((factor >> 23) & 255) + ((word >> 23) & 255) - 127
        factor_high = ((factor >> 12) & 2047) | 2048
        high = ((word >> 12) & 2047) | 2048
        low = (factor & 4095) * (word & 4095)
        rest = factor_high * (word & 4095) + high * (factor & 4095) + (low >> 12)
        m = factor_high * high + (rest >> 12)
        rest = ((rest & 4095) << 12) | (low & 4095)
        if m >> 23:
            e += 1
            rest = (rest >> 1) | (rest & 1)
        else:
            m, rest = (m << 1) | (rest >> 23), rest & 8388607
        low = 1 << 22
        if rest > low or (rest == low and m & 1):
            m += 1
        m -= low << 1
        if e < 1 or ((factor >> 23) & 255) == 0 or ((word >> 23) & 255) == 0:
            e = m = 0
        m += e << 23
        low = p[_MAGNITUDE_MASK]
        if m < 0 or m > low - 8388607:
            m = low - 8388607
        if ((factor ^ word) >> 31) & 1:
            m = m - low - 1
        out[i] = m
