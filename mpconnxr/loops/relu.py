"""max(x, 0) of float32, on the bits.

x and out hold float32 as words and may share memory. w is not read. A negative NaN becomes 0, a
positive one stays.
"""

# Parameters of relu32
_START = 0  # first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..


def relu32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute max(x, 0) of each element.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    end = p[_END]
    for i in range(p[_START], end):
        v = x[i]
        if (v >> 31) & 1:  # the sign, whether the word was read as signed or unsigned
            v = 0
        out[i] = v
