"""Quantization of float32 to bytes, on the bits.

    out = saturate(round(x / scale) + zero_point) ^ flip

x holds float32 as words, w the scale, 2**-100 to 2**101, likewise. out gets bytes. The quotient is
a float32, rounded half to even; the sum is clipped to 0 .. 255.

A product of 16 and 15 bits gives the quotient with 7 fraction bits, at most 4 units of the last of
them too low. This decides most elements. Near a tie between k - 1 and k, d = 2 * x - (2 * k - 1) *
scale decides, in units of the last bit of x or of the scale; it is exact and small. A float32
quotient equals the tie within half a unit u of its last place, times the scale, and the tie is
rounded to k if k is even.
"""

# Parameters of nearest8
_START = const(0)  # first element [elements] 0..
_END = const(1)  # end, exclusive [elements] 0..
_ZERO_POINT = const(2)  # of out ^ flip [value] 0..255
_FLIP = const(3)  # 128 if out is signed [mask] 0, 128
_NAN = const(4)  # result for NaN [value] 0..255
_MAGNITUDE_MASK = const(5)  # all bits except the sign [mask] 2**31 - 1
_INFINITY = const(6)  # [float bits] 2139095040


def nearest8(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """Quantize elements.

    Access:
        requires start < end
        reads x[start : end]
        reads w[0 : 1]
        writes out[start : end]
    """
    i = inverse = 0
    exponent = ((w[i] >> 23) & 255) + 23
    scale = (w[i] & 8388607) | 8388608
    m = 1 << 23
    for n in range(15, 0, -1):
        m, inverse = m << 1, inverse << 1
        if m >= scale:
            m -= scale
            inverse += 1
    zero, flip, mask = p[_ZERO_POINT], p[_FLIP], p[_MAGNITUDE_MASK]
    for i in range(p[_START], p[_END]):
        v = x[i]
        m = v & mask
        n = exponent - (m >> 23)
        k = zero
        if n < 14:  # beyond the range of bytes, or NaN
            k += 0 - 512 if (v >> 31) & 1 else 512
            if m > p[_INFINITY]:
                k = p[_NAN] ^ flip
        elif n < 25:  # half of the scale, or more
            k = ((((m >> 8) & 32767) | 32768) * inverse >> n) + 68
            if (k & 127) < 5:
                k = k >> 7
                n = 24 - n
                m = (m & 8388607) | 8388608
                d = (m << n) - (2 * k - 1) * scale
                n = 25
                m = 2 * k - 1
                while m > 0:
                    m = m >> 1
                    n -= 1
                u = scale >> n
                u = u + 1 if k & 1 else 0 - u
                if d < u:
                    k -= 1
            else:
                k = k >> 7
            if (v >> 31) & 1:
                k = 0 - k
            k += zero
        k = min(max(k, 0), 255)
        out[i] = k ^ flip
