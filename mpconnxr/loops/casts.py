"""Casts between float32, float16 and integers, on the bits of floats. Written once, in the common
subset.

p    lo, hi: range of items; 1 if the integers have a sign; words or bytes of an item

To a float: the nearest, ties to even. To an integer: cut off, modulo 2**bits; 0 of inf and NaN.
Integers of 16 bits and more are words of 16 bits, the lowest first.
"""

from ._hints import inline


@inline
def to_even(m, shift):
    """Return m / 2**shift, rounded to even. rest: room."""
    rest, m = m & ((1 << shift) - 1), m >> shift
    rest = rest + rest + (m & 1)
    if rest > 1 << shift:
        m += 1
    return m, rest


@inline
def put_float(out, i, m, e, sign, one):
    """Put m * 2**(e - 150) to out[i], for m below 2**24, or 2**24 itself. m, e: room."""
    if m:
        if m < 256:
            m = m << 16
            e -= 16
        while m < 1 << 23:
            m = m << 1
            e -= 1
        m += (e - 1) << 23
    if sign:
        m = m - (one << 31)
    out[i] = m
    return m, e


@inline
def word(m, t):
    """Return the 16 bits of m from bit t on; there are 24, and zeros around them."""
    v = 0
    if t >= 0:
        if t < 24:
            v = (m >> t) & 65535
    elif t > 0 - 16:
        v = ((m & 65535) << (0 - t)) & 65535
    return v


@inline
def whole(v):
    """Return m and t: what is before the point of the float v is m * 2**-t; 0 of inf and NaN."""
    t, m = (v >> 23) & 255, 0
    if t >= 127 and t < 255:
        m = (v & 0x7FFFFF) | 0x800000
    t = 150 - t
    if m and t > 0:
        m, t = m >> t, 0
    return m, t


def float_of_bytes(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    one, is_signed = 1, p[2]
    for i in range(p[0], p[1]):
        m, sign, e = x[i], 0, 150
        if is_signed and (m >> 7) & 1:
            m, sign = (256 - m) & 255, 1
            if m == 0:
                m = 256
        m, e = put_float(out, i, m, e, sign, one)


def float_of_words(x: ptr16, w: ptr32, out: ptr32, p: ptr32):
    """Of integers of p[3] words.

    Access:
        reads x[p[0] * p[3] : p[1] * p[3]]
        writes out[p[0] : p[1]]
    """
    one, is_signed, n = 1, p[2], p[3]
    j = p[0] * n
    for i in range(p[0], p[1]):
        sign = 0
        if is_signed:
            sign = x[j + n - 1] >> 15
        m, e, lost, carry = 0, 150, 0, 1
        for k in range(n):
            v = x[j]
            j += 1
            if sign:
                v = 65535 - v + carry
                carry, v = v >> 16, v & 65535
            if v and k:
                # 30 bits of what was found so far, from its highest one on
                s = 150 + 16 * k - e
                while v < 1 << 29:
                    v = v << 1
                    s -= 1
                e += s
                if s < 0:
                    m = m << (0 - s)
                else:
                    s = min(s, 30)
                    lost = lost | (m & ((1 << s) - 1))
                    m = m >> s
                m = m | v
            elif v:
                m = v
        if m >> 24:
            s = 0
            while m >> s >> 24:
                s += 1
            k, m = m & ((1 << s) - 1), m >> s
            e += s
            k = k + k + (m & 1 if lost == 0 else 1)
            if k > 1 << s:
                m += 1
        m, e = put_float(out, i, m, e, sign, one)


def float_of_halves(x: ptr16, w: ptr32, out: ptr32, p: ptr32):
    """Of float16.

    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    one = 1
    for i in range(p[0], p[1]):
        v = x[i]
        m, e, sign = v & 1023, (v >> 10) & 31, v >> 15
        if e == 31:
            m = (255 << 22) + (m << 12)
            m += m
            if sign:
                m = m - (one << 31)
            out[i] = m
        else:
            if e:
                m = m | 1024
            else:
                e = 1
            e += 125
            m, e = put_float(out, i, m, e, sign, one)


def halves_of_float(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """To float16.

    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    for i in range(p[0], p[1]):
        v = x[i]
        m, e, sign = v & 0x7FFFFF, ((v >> 23) & 255) - 112, (v >> 16) & 32768
        if e == 143:
            m = 0x7E00 if m else 0x7C00
        elif e > 30:
            m = 0x7C00
        else:
            shift = 13
            if e < 1:
                m = m | 0x800000
                shift = min(14 - e, 26)
                if e < 0 - 111:
                    m = 0
            else:
                m = m | (e << 23)
            m, rest = to_even(m, shift)
        out[i] = m | sign


def bytes_of_float(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] : p[1]]
    """
    for i in range(p[0], p[1]):
        v = x[i]
        sign = (v >> 31) & 1
        m, t = whole(v)
        v = word(m, t)
        if sign:
            v = 65536 - v
        out[i] = v & 255


def words_of_float(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """To integers of p[3] words.

    Access:
        reads x[p[0] : p[1]]
        writes out[p[0] * p[3] : p[1] * p[3]]
    """
    j, n = p[0] * p[3], p[3]
    for i in range(p[0], p[1]):
        v = x[i]
        sign, carry = (v >> 31) & 1, 1
        m, t = whole(v)
        for k in range(n):
            v = word(m, t)
            if sign:
                v = 65535 - v + carry
                carry, v = v >> 16, v & 65535
            out[j] = v
            j += 1
            t += 16


def bools_of_bytes(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Whether numbers of p[3] bytes are 0; p[2]: 1 for floats, whose sign does not count.

    Access:
        reads x[p[0] * p[3] : p[1] * p[3]]
        writes out[p[0] : p[1]]
    """
    j, n = p[0] * p[3], p[3]
    for i in range(p[0], p[1]):
        v = 0
        for k in range(n):
            m = x[j]
            j += 1
            if p[2] and k == n - 1:
                m = m & 127
            v = v | m
        out[i] = 1 if v else 0


def words_of_bools(x: ptr8, w: ptr32, out: ptr16, p: ptr32):
    """To items of p[3] words: 0, or p[2] in word p[4] if the lowest bit is 1.

    Access:
        requires p[4] < p[3]
        reads x[p[0] : p[1]]
        writes out[p[0] * p[3] : p[1] * p[3]]
    """
    j, n = p[0] * p[3], p[3]
    for i in range(p[0], p[1]):
        v = p[2] if x[i] & 1 else 0
        for k in range(n):
            out[j] = v if k == p[4] else 0
            j += 1
