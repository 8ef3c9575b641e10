"""Bytes to float32 by one scale, on its bits.

    out = ((x ^ flip) - zero_point) * scale

x holds bytes, w the positive scale as a word of float32. out gets float32 as words. Products are
rounded to even; the scale is such that they are normal floats.
"""

# Parameters of dequantize8
_START = const(0)  # first element [elements] 0..
_END = const(1)  # end, exclusive [elements] 0..
_ZERO_POINT = const(2)  # of x ^ flip [value] 0..255
_FLIP = const(3)  # 128 if x is signed [mask] 0, 128


def dequantize8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Dequantize bytes.

    Access:
        reads x[start : end]
        reads w[0 : 1]
        writes out[start : end]
        given 27 << 23 <= w[0 : 1] < 228 << 23
    """
    i = 0
    scale = w[i]
    for i in range(p[_START], p[_END]):
        m, e = (x[i] ^ p[_FLIP]) - p[_ZERO_POINT], ((scale >> 23) & 255) + 6
        v = m
        m = abs(m)
        if m:
            while m < 128:
                m = m << 1
                e -= 1
            rest = m * (scale & 4095)
            m = m * (((scale >> 12) & 2047) | 2048) + (rest >> 12)
            rest = (rest & 4095) << 1
            if m >> 19:
                e += 1
                rest = (rest >> 1) | (rest & 1)
                m = (m << 4) | (rest >> 8)
            else:
                m = (m << 5) | (rest >> 8)
            rest = rest & 255
            if rest > 128 or (rest == 128 and m & 1):
                m += 1
            m += e << 23
            if v < 0:
                v = 1  # constant folding of 1 << 31 would make an object
                m = m - (v << 30) - (v << 30)
        out[i] = m
