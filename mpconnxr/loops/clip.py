"""min(max(x, low), high) of float32, on the bits.

x and out hold float32 as words and may share memory. w is not read. NaN stays NaN. Words of equal
sign are ordered like their floats if positive, in reverse if negative.
"""

# Parameters of clip32
_START = 0  # first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_LOW = const(2)  # [float bits]
_HIGH = const(3)  # [float bits]


def clip32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Clip elements.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    i, end, low, high = p[_START], p[_END], p[_LOW], p[_HIGH]
    low_sign, high_sign = (low >> 31) & 1, (high >> 31) & 1
    while i < end:
        v = x[i]
        limited, sign = v, (v >> 31) & 1
        if sign != low_sign:
            if sign:
                limited = low
        elif sign:
            if v > low:
                limited = low
        elif v < low:
            limited = low
        sign = (limited >> 31) & 1
        if sign != high_sign:
            if sign == 0:
                limited = high
        elif sign:
            limited = max(limited, high)
        elif limited > high:
            limited = high
        if limited != v and ((v >> 23) & 255) == 255 and (v & 0x7FFFFF) != 0:
            limited = v  # NaN compares beyond every limit
        out[i] = limited
        i += 1
