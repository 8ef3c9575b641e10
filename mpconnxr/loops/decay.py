"""exp(-g * |x|) of float32, on the bits.

x and out hold float32 as words and may share memory. NaN gives 0x7FC00000. w holds 2**(30 - i /
32) for i from 0 to 31, as integers.

T = multiplier * |x| / 2**shift = g * |x| / ln(2) has 22 fraction bits. The result is 2**-n *
2**(-i / 32) * 2**-r: n is the integer part of T, i its next five bits and r the remaining bits.
2**-r is computed from three terms of its series. Results are within 1e-6 of the exact value.
"""

from ._floats import first_bit, unpack
from ._words import nan_bits

# Parameters of decay32
_START = 0  # first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_MULTIPLIER = const(2)  # g / ln(2) = multiplier / 2**shift [multiplier] 2**29..2**30 - 1
_SHIFT = const(3)  # [bits] 0..200


def decay32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute exp(-g * |x|) of each element.

    Access:
        reads x[start : end]
        reads w[0 : 32] if start < end
        writes out[start : end]
        given 1 << 29 <= w[0 : 32] <= 1 << 30
    """
    k = p[_START]
    high, low = p[_MULTIPLIER] >> 15, p[_MULTIPLIER] & 32767
    while k < p[_END]:
        m, e = unpack(x[k])
        if e == 255:
            v = 0
            if m:
                v = nan_bits()
            out[k] = v
            k += 1
            continue
        m, e = first_bit(m, e)
        a = m >> 12
        m = m & 4095
        v = (a * high << 3) + ((a * low + (m * high << 3) + (m * low >> 12)) >> 12)
        s = 104 + p[_SHIFT] - e
        if s > 0:
            v = (v + (1 << (s - 1))) >> s if s < 31 else 0
        elif s < 0:
            v = v << 1 if s == 0 - 1 else 0x2FFFFFFF
        n = v >> 22
        m = v & 131071
        a = (m >> 8) * 45426 + ((m & 255) * 45426 >> 8)
        m = a >> 10
        e = m * m
        a = (1 << 29) - a + (e >> 11) - (((e >> 15) * m >> 15) * 10923 >> 16) + (1 << 29)
        v = w[(v >> 17) & 31]
        m, v = v >> 15, v & 32767
        e, a = a >> 15, a & 32767
        v = m * e + (m * a >> 15) + (v * e >> 15)
        s = 6 if n < 126 else n - 119
        a = (v + (1 << (s - 1))) >> s if s < 31 else 0
        if n < 126:
            a += (125 - n) << 23
        out[k] = a
        k += 1
