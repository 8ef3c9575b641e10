"""Helpers of loops on recurrent cells: float32 states and gates with 26 fraction bits.

no_sign is the mask 2**31 - 1, a local name or a parameter.
"""

from ._hints import inline


@inline
def new_state(v, a, b, f, no_sign):
    """Return m, the magnitude bits of f * v + a * b, and sign, whose lowest bit is its sign.

    v holds the bits of the state; f and a are gates from 0 to 1; b may be negative. Temporaries:
    a, b, e, s.
    """
    sign = (v >> 31) & 1
    if (b >> 31) & 1:
        b = (b ^ no_sign) & no_sign
        b += 1
        sign += 2
    e = (a & 8191) * (b >> 13) + (((a & 8191) * (b & 8191)) >> 13)
    b = (a >> 13) * (b >> 13) + ((e + (a >> 13) * (b & 8191)) >> 13)
    a = f
    e = ((v >> 23) & 255) - 126
    m = ((v & 0x7FFFFF) | 0x800000) if e > 0 - 126 else 0
    s = 0
    if e > 6:
        s = e - 6
        e = 6
    if e < 0 - 24:
        m = 0
    elif e < 0:
        m = (m + (1 << (0 - 1 - e))) >> (0 - e)
    else:
        m = m << e
    e = ((m & 32767) * (a >> 13) + (((m & 32767) * (a & 8191)) >> 13)) >> 2
    m = ((m >> 15) * (a >> 13) << 2) + ((e + (m >> 15) * (a & 8191)) >> 11)
    b = (b + (2 << s)) >> (2 + s) if s < 26 else 0
    if sign == 1 or sign == 2:
        m -= b
        if (m >> 31) & 1:
            m = 0 - m
            sign ^= 3
    else:
        m += b
    e = 126 + s
    s = 0
    while m >> s >= 1 << 24:
        s += 1
    if s:
        m = (m + (1 << (s - 1))) >> s
        e += s
    while m and m < 1 << 23:
        m = m << 1
        e -= 1
    m += (e << 23) - (1 << 23) if m else 0
    return m, sign, a, b, e, s


@inline
def gate_product(a, b):
    """Return a * b of two numbers that are not negative."""
    m = (a & 8191) * (b >> 13) + (((a & 8191) * (b & 8191)) >> 13)
    m = (a >> 13) * (b >> 13) + ((m + (a >> 13) * (b & 8191)) >> 13)
    return m


@inline
def gate_to_float(m):
    """Return the bits of the float m, and its exponent e."""
    exponent = 124
    while m >= 1 << 24:
        m = (m + 1) >> 1
        exponent += 1
    while m and m < 1 << 23:
        m = m << 1
        exponent -= 1
    m += (exponent << 23) - (1 << 23) if m else 0
    return m, exponent


@inline
def sigmoid(v, w):
    """Return a = sigmoid(v); v has 26 fraction bits, a has 29.

    w holds the table of loops/gated. Temporaries: v, b, c, t.
    """
    c = 0
    if v >> 29:
        v, c = (v - (1 << 29)) >> 2, 96
    elif v >> 28:
        c = 32
    else:
        v = v << 1
    c = min(c + (v >> 23), 116)
    c += c + c
    t, b = (v >> 11) & 4095, w[c + 2]
    a = (((b & 0xFFFF) - 0x8000) * ((v >> 8) & 0x7FFF)) >> 15
    b = (((b >> 16) & 0xFFFF) << 3) - a
    v = v & 2047
    b = w[c + 1] - ((b * t + ((b * v) >> 11)) >> 12)
    a = b >> 12
    b = b & 4095
    a = (w[c] + a * t + ((a * v) >> 11) + ((b * t) >> 12)) & 0x1FFFFFFF
    return a, v, b, c, t


@inline
def tanh(v, mask, w):
    """Return a = tanh(v) of a v that is not negative; both have 26 fraction bits.

    w holds the table of loops/gated. Temporaries: v, b, c, t.
    """
    v = mask if v >> 30 else v << 1
    a, v, b, c, t = sigmoid(v, w)
    a = ((a - (1 << 28) + 2) >> 2) & 0x7FFFFFF
    return a, v, b, c, t


@inline
def gate(v, mask, w):
    """Return a = sigmoid(v), both with 26 fraction bits; v may have been read as an unsigned word.

    w holds the table of loops/gated; sign is the sign of v. Temporaries: v, b, c, t.
    """
    sign = (v >> 31) & 1
    if sign:
        v = (0 - v) & mask
    a, v, b, c, t = sigmoid(v, w)
    a = (a + 4) >> 3
    if sign:
        a = (1 << 26) - a
    return a, v, sign, b, c, t


@inline
def argument(low, high, mask):
    """Return a sum of 24-bit limbs with 28 fraction bits as a word with 26, clipped."""
    if high > 510 or high < 0 - 511:
        low = mask if high > 0 else 0 - mask
    else:
        low = (high << 22) + ((low + 2) >> 2)
    return low


@inline
def small_tanh(m, e):
    """Return m = the bits of tanh(m) for a 24-bit mantissa with exponent e from 115 to 122.

    Temporaries: e, square.
    """
    square = m << (e - 116) if e > 115 else m >> 1
    square = (square >> 15) * (square >> 15) >> 8
    square = square // 3 - ((square >> 8) * (square >> 8) >> 14) * 2 // 15
    m = m << 6
    m -= (m >> 15) * (square >> 6) >> 9
    if m < 1 << 29:
        m = m << 1
        e -= 1
    m = ((m + 32) >> 6) + ((e - 1) << 23)
    return m, e, square
