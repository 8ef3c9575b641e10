"""min(max(x, low), high) of float32 by their bits. Written once, for Python and viper.

x and out hold float32 as words, and may be the same memory. w is not read. A NaN stays. Words of
the same sign compare as their floats do: as they are if positive, reversed if negative.
"""

# Parameters of clip32
_START = 0  # the first element [elements] 0..
_END = 1  # behind the last one [elements] 0..
_LOW = const(2)  # [float bits]
_HIGH = const(3)  # [float bits]


def clip32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
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
            limited = v  # a NaN lies beyond every limit
        out[i] = limited
        i += 1
