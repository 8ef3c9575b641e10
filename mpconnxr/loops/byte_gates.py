"""Arguments of a cell's gates, of integer sums over bytes. Written once, for Python and viper.

An argument is what loops/gated takes: 26 bits behind the point in one word, -32 to 32. It is a
bias and two sums, each an int below 2**29 times a unit, which is the product of two scales.

Terms have 26 bits behind the point, too; where one is 8 or more all of them have less, by a
multiple of 6. So none is less exact than a float32.
"""

from ._floats import product
from ._hints import far, inline, undefined
from ._words import all_but_sign


@inline
def signed_word(word):
    """Return a word below 2**29 that may have been read without its sign."""
    v = ((word + (1 << 29)) & 0x3FFFFFFF) - (1 << 29)
    return v


@inline
def add_term(total, word, m, e, z):
    """Return total + word * m, shifted to the right by e, and z.

    z grows by 6 if that is too large. v, low, middle, high, most: room.
    """
    most = undefined
    v = signed_word(word)
    low = (v & 4095) * (m & 4095)
    middle = (v >> 12) * (m & 4095) + (v & 4095) * (m >> 12) + (low >> 12)
    high = (v >> 12) * (m >> 12) + (middle >> 12)
    if e > 24:
        total += high >> (e - 24 if e < 55 else 31)
    else:
        most = 1 << (e + 5) if e >= 0 else 0
        if high < most and high >= 0 - most:
            low = (low & 4095) | (middle & 4095) << 12
            total += (high << (24 - e)) + (low >> e)
        elif v:
            z += 6
    return total, z, v, low, middle, high, most


@inline
def unit(a, b):
    """Return m and e: m / 2**e = a product of floats, in units of 2**-26.

    a, b: bits of the floats, then room, as low and i are.
    """
    e = ((a >> 23) & 255) + ((b >> 23) & 255)
    i = 1 if ((a ^ b) >> 31) & 1 else 0
    if (a >> 23) & 255 == 0 or (b >> 23) & 255 == 0:
        i = 2
    a, b = (a & 0x7FFFFF) | 0x800000, (b & 0x7FFFFF) | 0x800000
    m, e, low = product(a, b, e)
    e = 250 - e
    if i:
        m = 0 - m if i == 1 else 0
    return m, e, a, b, low, i


def arguments(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out[k] = out[k] * (a * w[k]) + out[n + k] * (b * w[n + k]) + bias, of n rows.

    A bias is w[2 * n + k] * 2**w[3 * n + k], with 26 bits behind the point, and below 2**29. The
    second word is what all terms of this row have less.

    p    first of out, n; where x has the scale a, and the scale b

    Access:
        n = p[1]
        reads x[p[2] : p[2] + 1]
        reads x[p[3] : p[3] + 1]
        reads w[0 : 4 * n]
        updates out[p[0] : p[0] + 2 * n]
    """
    mask = all_but_sign()
    n, at, last, other, f, g, d, e = p[1], p[0], 0, 0, 0, 0, 0, 0
    for i in far(range(n)):
        for part in far(range(2)):
            b = w[part * n + i]
            if b != (other if part else last):
                a, s = x[p[3] if part else p[2]], b
                m, k, a, b, low, high = unit(a, b)
                if part:
                    other, g, e = s, m, k
                else:
                    last, f, d = s, m, k
        z, s = w[3 * n + i] & 31, 0 - 1
        while far(s != z):
            s = z
            k = z - (w[3 * n + i] & 31)
            total = signed_word(w[2 * n + i])
            total = total >> (k if k < 31 else 31)
            for part in far(range(2)):
                m, k = f, d + s
                if part:
                    m, k = g, e + s
                total, z, v, low, middle, high, most = add_term(
                    total, out[at + part * n + i], m, k, z
                )
        k = mask >> (z if z < 31 else 31)
        if total > k:
            total = mask
        elif total < 0 - k:
            total = 0 - mask
        else:
            total = total << z
        out[at + i] = total
