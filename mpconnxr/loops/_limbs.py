"""Helpers of loops for sums in limbs of 28 bits."""

from ._hints import inline


@inline
def infinity_bits():
    """Return 0x7F800000: constant folding would make big integers from 2**30 on."""
    v = 255
    v = v << 23
    return v


@inline
def limbs_as_float(a, b, c, e):
    """Return m = the bits of the float a * 2**56 + b * 2**28 + c, rounded to nearest even.

    a is below 2**28; e is the exponent of the float if bit 27 of a is the highest one.
    Temporaries: a, b, c, n.
    """
    if a == 0:
        a, b, c = b, c, 0
        e -= 28
    if a == 0:
        a, b = b, 0
        e -= 28
    m = a
    n = 28
    if m and m < 1 << 14:
        m, n = m << 14, 14
    if m and m < 1 << 21:
        m = m << 7
        n -= 7
    while m and m < 1 << 27:
        m = m << 1
        n -= 1
    e += n - 28
    if n < 28:
        m = m | (b >> n)
    if b & ((1 << n) - 1) or c:
        m = m | 1
    n = 4 if e > 0 else 5 - e
    if n < 30:
        a, m = m & ((1 << n) - 1), m >> n
        if a + (m & 1) > 1 << (n - 1):
            m += 1
        if m and e > 0:
            m += (e - 1) << 23
        if m and e > 254:
            m = infinity_bits()
    else:
        m = 0
    return m, e, a, b, c, n
