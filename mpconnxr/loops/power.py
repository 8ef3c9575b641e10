"""Powers of float32 on the bits: |x| ** y = 2 ** (y * log2(|x|)). Written once, for Python and
viper.

x, w    float32 as words, x and y;  out  of powers32: as x; of logs32: p
p       lo, hi: range of items, at most as many as there is room behind for; 1 or 0: what an item
        is from the next one of x; the same of w; four polynomials of 2**t of degree 4, 29 bits
        behind the point, a quarter of 0 to 1 each
        from p[24] on what logs32 finds: for each item log2(|x|) of 30 bits, 0 for what has none;
        bits behind its point * 2, plus 1 if it is negative

x = m * 2**e with m from sqrt(1/2) to sqrt(2), and log2(m) = s * (2.885 + 0.962 * s**2 + ...) with
s = (m - 1) / (m + 1), of 30 bits: y times the logarithm is within 2**-20. Results are within 1e-6
of the exact value. What C's pow gives for 0, inf and NaN; one NaN, 0x7FC00000.
"""

from ._floats import first_bit, significand, unpack
from ._hints import far, inline
from ._words import bit, quotient


@inline
def product(a, b, left):
    """Return v = a * b >> (30 - left), of 30 bits each. s, t: room."""
    s, t = a & 32767, b & 32767
    v = (a >> 15) * t + s * (b >> 15) + (s * t >> 15) >> (15 - left)
    v += (a >> 15) * (b >> 15) << left
    return v, s, t


def logs32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[1] - p[0]
        reads x[p[0] * p[2] : (p[1] - 1) * p[2] + 1] if n > 0
        writes out[24 : 24 + 2 * n]
    """
    o, i = 24, p[0] * p[2]
    end = o + 2 * (p[1] - p[0])
    while far(o < end):
        v = x[i]
        m, e = unpack(v)
        k = r = sign = 0
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
            k = 28
            if a:
                while a < b:
                    a = a << 1
                    k += 1
                n = 30
                r, a, n = quotient(r, a, b, n)
                z, s, t = product(r, r, 0)
                n = 2 * k - 62
                z = z >> n if n < 31 else 0
                n = z >> 14
                v = 344240445 + (8595 * n >> 5)  # of 30 bits behind the point: 2.885 / 9, / 11
                v = 442594858 + ((v >> 15) * n >> 5)
                v = 619632802 + ((v >> 15) * n >> 5)
                m, s, t = product(v, z, 0)
                v = 1032721336 + (m >> 4)
                m, s, t = product(v, z, 0)
                v = 774541002 + (m >> 6)
                m, s, t = product(r, v, 1)
                r = m
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
                n = k - b - 1
                if r:
                    r = (r >> n) + 1 >> 1 if n < 31 else 0
                r = (e << b) - r if sign else (e << b) + r
                k, sign = b, a
            if r >> 30:
                r = r + 1 >> 1
                k -= 1
            while r and r < 1 << 29:
                r = r << 1
                k += 1
        out[o] = r
        out[o + 1] = 2 * k + sign
        o += 2
        i += p[2]


def powers32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[1] - p[0]
        given logs32 has left its numbers in p
        reads x[p[0] * p[2] : (p[1] - 1) * p[2] + 1] if n > 0
        reads w[p[0] * p[3] : (p[1] - 1) * p[3] + 1] if n > 0
        reads p[4 : 24 + 2 * n] if n > 0
        writes out[p[0] : p[1]]
    """
    top = bit(31)
    infinity, one = top - 1 - 0x7FFFFF, 127 << 23
    k, o = 24, p[0]
    while far(o < p[1]):
        v, y = x[o * p[2]], w[o * p[3]]
        f, g = v & (top - 1), y & (top - 1)
        v = (v >> 31) & 1
        m, e = g & 0x7FFFFF, g >> 23
        m, e = first_bit(m, e)
        t, a = 1, infinity | 0x400000
        if e < 151:  # 2: y is odd, 1: even, 0: not whole
            n = 150 - e
            t = 0
            if n < 24 and m & ((1 << n) - 1) == 0:
                t = 1 + ((m >> n) & 1)
        if g == 0 or f == one and v == 0:
            a, v = one, 0
        elif f > infinity or g > infinity or v and t == 0 and f and f < infinity:
            v = 0
        else:
            v = v if t > 1 else 0
            y = (y >> 31) & 1
            r, n = p[k], p[k + 1]
            if f == one:
                a = one
            elif r == 0 or g == infinity:
                b = 1 if f > one else 0
                a = 0 if b == y else infinity
            else:
                y ^= n & 1
                n = (n >> 1) + 105 - e
                a, b, s = r & 32767, r >> 15, m & 511
                m = m >> 9
                t = ((b * s << 6) + (a * s >> 9) + a * m >> 14) + (b * m << 1)
                s = 512
                if n > 0:
                    t = (t >> (n - 1)) + 1 >> 1 if n < 32 else 0
                if n >= 0:
                    if y:
                        t = 0 - t
                    s = (t >> 22) + 127
                elif y:
                    s = 0 - 512
                n = 4 + ((t >> 20) & 3) * 5
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
        out[o] = a
        o += 1
        k += 2
