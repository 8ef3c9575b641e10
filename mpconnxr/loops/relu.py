"""max(x, 0) on the bits of float32. Written once, in the common subset of Python and viper.

    p    lo, hi: range of items

A negative NaN becomes 0, a positive one stays.
"""


def relu32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    end = p[1]
    for i in range(p[0], end):
        v = x[i]
        if (v >> 31) & 1:  # the sign, whether the word came out signed or not
            v = 0
        out[i] = v
