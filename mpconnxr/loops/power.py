"""Powers of float32, on the bits: |x| ** w = 2 ** (w * log2(|x|)).

logs32    Write each log2(|x|) to logarithms in out: its magnitude with 30 bits, 0 if there is
          none; then twice its fraction bits, plus 1 if it is negative.
powers32  Write x ** w to out, with the logarithms that logs32 has written to p.

x, w and the powers are float32 as words. x = m * 2**e with m from sqrt(1/2) to sqrt(2), and
log2(m) = s * (2.885 + 0.962 * s**2 + ...) with s = (m - 1) / (m + 1), of 30 bits: w times the
logarithm is within 2**-20. Results are within 1e-6 of the exact value. 0, inf and NaN as in C's
pow; NaN is 0x7FC00000.
"""

from ._floats import first_bit, significand, unpack
from ._hints import far, inline
from ._words import bit, quotient

# Parameters of logs32, powers32
_START = 0  # first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_X_STRIDE = const(2)  # 0: all elements have the same x [elements] 0, 1
_W_STRIDE = const(3)  # 0: all elements have the same w [elements] 0, 1
_COEFFICIENTS = const(4)  # of 2**t in each quarter of 0..1, t**4 first [value x 20] 0..2**30 - 1
_LOGARITHMS = const(24)  # of the elements from start on, two words each [words x n] 0..


@inline
def product(a, b, left):
    """Return v = a * b >> (30 - left), for operands of 30 bits. Temporaries: s, t."""
    s, t = a & 32767, b & 32767
    v = (a >> 15) * t + s * (b >> 15) + (s * t >> 15) >> (15 - left)
    v += (a >> 15) * (b >> 15) << left
    return v, s, t


def logs32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute the logarithms.

    Access:
        n = end - start
        reads x[start * x_stride : (end - 1) * x_stride + 1] if n > 0
        writes out[24 : 24 + 2 * n]
    """
    at, i = _LOGARITHMS, p[_START] * p[_X_STRIDE]
    end = at + 2 * (p[_END] - p[_START])
    while far(at < end):
        v = x[i]
        m, e = unpack(v)
        point = logarithm = sign = 0
        if e < 255 and e + m > 0:
            m, e = significand(m, e)
            v = 1 << 23
            if m > 11863283:
                v = 1 << 24
                e += 1
            b, a = m + v, m - v
            if a < 0:
                a, sign = 0 - a, 1
            e -= 127
            point = 28
            if a:
                while a < b:
                    a = a << 1
                    point += 1
                n = 30
                logarithm, a, n = quotient(logarithm, a, b, n)
                square, s, t = product(logarithm, logarithm, 0)
                n = 2 * point - 62
                square = square >> n if n < 31 else 0
                n = square >> 14
                v = 344240445 + (8595 * n >> 5)  # 30 fraction bits: 2.885 / 9, / 11
                v = 442594858 + ((v >> 15) * n >> 5)
                v = 619632802 + ((v >> 15) * n >> 5)
                m, s, t = product(v, square, 0)
                v = 1032721336 + (m >> 4)
                m, s, t = product(v, square, 0)
                v = 774541002 + (m >> 6)
                m, s, t = product(logarithm, v, 1)
                logarithm = m
            if e:
                a = 0
                if e < 0:
                    e = 0 - e
                    sign ^= 1
                    a = 1
                b, n = 29, e
                while n > 1:
                    n = n >> 1
                    b -= 1
                n = point - b - 1
                if logarithm:
                    logarithm = (logarithm >> n) + 1 >> 1 if n < 31 else 0
                logarithm = (e << b) - logarithm if sign else (e << b) + logarithm
                point, sign = b, a
            if logarithm >> 30:
                logarithm = logarithm + 1 >> 1
                point -= 1
            while logarithm and logarithm < 1 << 29:
                logarithm = logarithm << 1
                point += 1
        out[at] = logarithm
        out[at + 1] = 2 * point + sign
        at += 2
        i += p[_X_STRIDE]


def powers32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute the powers.

    Access:
        n = end - start
        given logs32 has written the logarithms to p
        reads x[start * x_stride : (end - 1) * x_stride + 1] if n > 0
        reads w[start * w_stride : (end - 1) * w_stride + 1] if n > 0
        reads p[4 : 24 + 2 * n] if n > 0
        writes out[start : end]
    """
    top = bit(31)
    infinity, one = top - 1 - 0x7FFFFF, 127 << 23
    log_at, at = _LOGARITHMS, p[_START]
    while far(at < p[_END]):
        v, power = x[at * p[_X_STRIDE]], w[at * p[_W_STRIDE]]
        x_magnitude, w_magnitude = v & (top - 1), power & (top - 1)
        v = (v >> 31) & 1
        m, e = w_magnitude & 0x7FFFFF, w_magnitude >> 23
        m, e = first_bit(m, e)
        t, a = 1, infinity | 0x400000
        if e < 151:  # 2: w is odd, 1: even, 0: not an integer
            n = 150 - e
            t = 0
            if n < 24 and m & ((1 << n) - 1) == 0:
                t = 1 + ((m >> n) & 1)
        if w_magnitude == 0 or x_magnitude == one and v == 0:
            a, v = one, 0
        elif (
            x_magnitude > infinity
            or w_magnitude > infinity
            or v
            and t == 0
            and x_magnitude
            and x_magnitude < infinity
        ):
            v = 0
        else:
            v = v if t > 1 else 0
            power = (power >> 31) & 1
            logarithm, n = p[log_at], p[log_at + 1]
            if x_magnitude == one:
                a = one
            elif logarithm == 0 or w_magnitude == infinity:
                b = 1 if x_magnitude > one else 0
                a = 0 if b == power else infinity
            else:
                power ^= n & 1
                n = (n >> 1) + 105 - e
                a, b, s = logarithm & 32767, logarithm >> 15, m & 511
                m = m >> 9
                t = ((b * s << 6) + (a * s >> 9) + a * m >> 14) + (b * m << 1)
                s = 512
                if n > 0:
                    t = (t >> (n - 1)) + 1 >> 1 if n < 32 else 0
                if n >= 0:
                    if power:
                        t = 0 - t
                    s = (t >> 22) + 127
                elif power:
                    s = 0 - 512
                n = _COEFFICIENTS + ((t >> 20) & 3) * 5
                t = t & 0xFFFFF
                e = n + 4
                a = p[n]
                while n < e:
                    n += 1
                    b = a >> 10
                    a = (((a & 1023) * t >> 10) + b * (t & 1023) >> 10) + b * (t >> 10) + p[n]
                if s > 254:
                    a = infinity
                elif s > 0:
                    a = ((a + 32) >> 6) + ((s - 1) << 23)
                else:
                    s = 7 - s
                    a = (a + (1 << s >> 1)) >> s if s < 31 else 0
        if v:
            a -= top
        out[at] = a
        at += 1
        log_at += 2
