"""Sine and cosine of float32, on the bits.

x and out hold float32 as words and may share memory. w holds 2 / pi in limbs of 15 bits after 30
zero bits, then 1 / 10!, 1 / 8! to 1 / 0!, and 1 / 11! to 1, with 30 fraction bits.

|x| * 2 / pi is computed from the 90 bits of 2 / pi that matter for its exponent, so that nothing
is lost however large x is: two bits are the quadrant, the others are the fraction g. Around the
nearest multiple of pi / 2, sine is t * (1 - t**2 * (1 / 3! - t**2 * ...)) or 1 - t**2 * (1 / 2! -
...), t = g * pi / 2. Results are within 1e-7 of the exact value; 0x7FC00000 for inf and NaN.
"""

from ._floats import halve
from ._hints import far
from ._words import nan_bits

# Parameters of sine32
_START = 0  # first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_IS_COSINE = 2  # [flag] 0, 1
_LIMBS = const(3)  # working memory for a product [words x 6]


def sine32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute the function of each element.

    Access:
        reads x[start : end]
        reads w[0 : 27] if start < end
        writes out[start : end]
        writes p[3 : 9]
        given 0 <= w[0 : 15] < 1 << 15
        given 1 << 14 + 3 * i <= w[15 + 6 * k + i : 16 + 6 * k + i] <= 1 << 15 + 3 * i
            for i in range(6) for k in range(2)
    """
    top = 1  # a variable: constant folding would make big integers
    one, top = top << 30, top << 31
    nan = nan_bits()
    for i in far(range(p[_START], p[_END])):
        v = x[i]
        e = (v >> 23) & 255
        m = (v & 0x7FFFFF) | 0x800000
        quadrant = p[_IS_COSINE]
        sign = (v >> 31) & 1 if quadrant == 0 else 0
        a = 0
        if e == 255:
            a, sign = nan, 0
        elif e < 115:
            a = 127 << 23 if quadrant else v & (top - 1)
        else:
            b = 0
            if e < 126:
                m = m << 6
            else:
                n, k = e - 122, _LIMBS + 6
                s = n * 2185 >> 15  # n // 15
                n -= s * 15
                s += 6
                low = a = 0
                while k > _LIMBS:  # product with 90 bits from bit e - 122 of w on, lowest first
                    s -= 1
                    b = ((w[s] << n) | (w[s + 1] >> (15 - n))) & 32767
                    a += b * (m & 32767) + low * (m >> 15)
                    low = b
                    p[k - 1] = a & 32767
                    a = a >> 15
                    k -= 1
                quadrant += p[_LIMBS] >> 13
                a = ((p[_LIMBS] & 8191) << 17) | (p[_LIMBS + 1] << 2) | (p[_LIMBS + 2] >> 13)
                low = ((p[_LIMBS + 2] & 8191) << 17) | (p[_LIMBS + 3] << 2) | (p[_LIMBS + 4] >> 13)
                b = 0
                if a >> 29:
                    quadrant += 1
                    b, a, low = 1, one - 1 - a, one - 1 - low
                e = 126
                while a < 1 << 29 and e > 60:
                    a, low = (a << 1) | (low >> 29), (low << 1) & (one - 1)
                    e -= 1
                s = a >> 15  # times pi / 2 of 29 fraction bits
                a = a & 32767
                m = s * 25735 + ((s * 30377 + a * 25735 + (a * 30377 >> 15)) >> 15)
                if m >> 29:
                    e += 1
                else:
                    m = m << 1
            s = m >> (126 - e) if e > 96 else 0
            n = s >> 15
            s = n * n + (n * (s & 32767) >> 14)  # the square
            k = 15 if quadrant & 1 else 21
            n, low, s, a = k + 5, s & 32767, s >> 15, w[k]
            while k < n:
                k += 1
                v = a >> 15
                a = w[k] - s * v - (s * (a & 32767) + low * v >> 15)
            if quadrant & 1:
                e = 126
            else:
                sign ^= b
                s, m = m >> 15, m & 32767
                a = s * (a >> 15) + ((s * (a & 32767) + m * (a >> 15)) >> 15)
            sign ^= (quadrant >> 1) & 1
            a, e = halve(a, e, 30)
            while a < 1 << 29 and a:
                a = a << 1
                e -= 1
            a = ((a + 32) >> 6) + ((e - 1) << 23)
        if sign:
            a -= top
        out[i] = a
