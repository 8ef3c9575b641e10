"""max(x, 0) of float32 by their bits. Written once, in the common subset of Python and viper.

x and out hold float32 as words, and may be the same memory. w is not read. A negative NaN becomes
0, a positive one stays.
"""

# Parameters of relu32
_START = 0  # the first element [elements] 0..
_END = 1  # behind the last one [elements] 0..


def relu32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[start : end]
        writes out[start : end]
    """
    end = p[_END]
    for i in range(p[_START], end):
        v = x[i]
        if (v >> 31) & 1:  # the sign, whether the word came out signed or not
            v = 0
        out[i] = v
