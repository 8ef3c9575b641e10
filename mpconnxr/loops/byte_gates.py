"""Arguments of a cell's gates, from integer sums over bytes.

An argument has 26 fraction bits in one word, from -32 to 32, as loops/gated takes it. It is a bias
plus two sums, each an int below 2**29 times a unit, the product of two scales. Terms have 26
fraction bits, too. If a term is 8 or more, all have fewer, by a multiple of 6, so that none is
less exact than a float32.
"""

from ._floats import product
from ._hints import far, inline, undefined
from ._words import all_but_sign

# Parameters of arguments
_OUT_START = const(0)  # of the sums, then of the arguments [elements] 0..
_ROWS = const(1)  # [rows] 1..
_X_SCALE_START = const(2)  # index in x of the scale for sums over the layer's input [elements] 0..
_H_SCALE_START = const(3)  # index in x of the scale for sums over the states [elements] 0..


@inline
def signed_word(word):
    """Return a word of magnitude below 2**29 that may have been read as unsigned."""
    v = ((word + (1 << 29)) & 0x3FFFFFFF) - (1 << 29)
    return v


@inline
def add_term(total, word, m, e, less):
    """Return total + (word * m >> e), and less, the number of fraction bits dropped so far.

    less grows by 6 if the term is too large. Temporaries: v, low, middle, high, most.
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
            less += 6
    return total, less, v, low, middle, high, most


@inline
def unit(a, b):
    """Return m and e with m / 2**e = a product of two floats, in units of 2**-26.

    a and b are the bits of the floats, then temporaries, as low and i are.
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
    """Write total = sum * (a * scale) + other_sum * (b * other_scale) + bias for n rows.

    out holds the n sums over the layer's input, then those over h. Each total replaces the first
    sum. a and b are the scales in x. w holds n scales for each of the two sums, then n words v and
    n shifts: a bias is v * 2**shift with 26 fraction bits, v below 2**29. All terms of the row
    then drop shift bits.

    Access:
        n = rows
        reads x[x_scale_start : x_scale_start + 1]
        reads x[h_scale_start : h_scale_start + 1]
        reads w[0 : 4 * n]
        updates out[out_start : out_start + 2 * n]
    """
    mask = all_but_sign()
    n, at, x_factor, h_factor = p[_ROWS], p[_OUT_START], 0, 0
    x_unit, h_unit, x_shift, h_shift = 0, 0, 0, 0
    for i in far(range(n)):
        for part in far(range(2)):
            b = w[part * n + i]
            if b != (h_factor if part else x_factor):
                a, s = x[p[_H_SCALE_START] if part else p[_X_SCALE_START]], b
                m, k, a, b, low, high = unit(a, b)
                if part:
                    h_factor, h_unit, h_shift = s, m, k
                else:
                    x_factor, x_unit, x_shift = s, m, k
        less, s = w[3 * n + i] & 31, 0 - 1
        while far(s != less):
            s = less
            k = less - (w[3 * n + i] & 31)
            total = signed_word(w[2 * n + i])
            total = total >> (k if k < 31 else 31)
            for part in far(range(2)):
                m, k = x_unit, x_shift + s
                if part:
                    m, k = h_unit, h_shift + s
                total, less, v, low, middle, high, most = add_term(
                    total, out[at + part * n + i], m, k, less
                )
        k = mask >> (less if less < 31 else 31)
        if total > k:
            total = mask
        elif total < 0 - k:
            total = 0 - mask
        else:
            total = total << less
        out[at + i] = total
