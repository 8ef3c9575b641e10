"""min(max(x, low), high) on the bits of float32. Written once, for Python and viper.

    p    lo, hi: range of items; bits of low and of high

Words of the same sign compare as their floats do: as they are if positive, reversed if negative.
"""


def clip32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    i, end, low, high = p[:4]
    low_sign, high_sign = (low >> 31) & 1, (high >> 31) & 1
    while i < end:
        v = x[i]
        r, sign = v, (v >> 31) & 1
        if sign != low_sign:
            if sign:
                r = low
        elif sign:
            if v > low:
                r = low
        elif v < low:
            r = low
        sign = (r >> 31) & 1
        if sign != high_sign:
            if sign == 0:
                r = high
        elif sign:
            r = max(r, high)
        elif r > high:
            r = high
        if r != v and ((v >> 23) & 255) == 255 and (v & 0x7FFFFF) != 0:
            r = v  # a nan lies beyond every limit
        out[i] = r
        i += 1
