"""Pairs of a head's numbers, turned: a * c - b * s and a * s + b * c. Kernel rotary.

turn     in 24 bits of the larger one of a and b, and of c and s; sums are rounded once
finite   calls what computes with floats if a value is inf or nan

Written once, in the common subset of Python and viper.
"""

from ._floats import normalize
from ._hints import inline, undefined
from ._words import all_but_sign


@inline
def put(out, at, upper, middle, lower, exponent, infinity, mask):
    """Set out[at] to upper * 2**24 + middle * 2**12 + lower as float32. v, sign, r, s: room."""
    s = undefined
    v = (upper << 7) + (middle + (lower >> 12) >> 5)
    sign = 0
    if v < 0:
        v, sign = 0 - v, 1
    r = 0
    if v:
        s = exponent
        while v >> 30:
            v = v >> 1
            s += 1
        v, s = normalize(v, s, 29)
        if s > 254:
            r = infinity
        elif s > 0:
            r = ((v + 32) >> 6) + ((s - 1) << 23)
    if sign:
        r -= mask + 1
    out[at] = r
    return v, sign, r, s


def finite(p: ptr32, w):
    """w: what computes with floats; p; x, cosines, sines, out

    Access: of the loops it calls
    """
    special, whole = w[0], w[1]
    if p[2] == 255:
        special(whole, w)


def turn(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """x, out: of lines p[0] to p[1] (batch by batch, heads, rows); w: c, and s behind it

    p    2 the largest exponent that it saw; heads, rows, pairs, numbers of a head; strides of x:
         7 batch, head, row; from the first number of a pair to the other, from pair to pair; 12 of
         out: batch, head, row; of w: 15 batch, row; 17 items of c

    Access:
        n = max(p[6], (p[5] - 1) * p[11] + p[10] + 1)
        batches = range(p[0] // (p[3] * p[4]), (p[1] - 1) // (p[3] * p[4]) + 1)
        requires 2 * p[5] <= n
        x_last = (p[3] - 1) * p[8] + (p[4] - 1) * p[9]
        out_last = (p[3] - 1) * p[13] + (p[4] - 1) * p[14]
        reads x[b * p[7] : b * p[7] + x_last + n] for b in batches
        writes out[b * p[12] : b * p[12] + out_last + n] for b in batches
        reads w[b * p[15] : b * p[15] + (p[4] - 1) * p[16] + p[5] + p[17]] for b in batches
        writes p[2 : 3]
    """
    mask = all_but_sign()
    infinity = mask - 0x7FFFFF
    largest, line = 0, p[0]
    while True:  # a condition here would be a branch farther than Xtensa's reach
        if line >= p[1]:
            break
        row, head = line % p[4], line // p[4]
        batch, head = head // p[3], head % p[3]
        i = batch * p[7] + head * p[8] + row * p[9]
        at = batch * p[12] + head * p[13] + row * p[14]
        j = batch * p[15] + row * p[16]
        pair = p[5]
        while pair:
            first, second = x[i], x[i + p[10]]
            cosine, sine = w[j], w[j + p[17]]
            e, f = first & mask, second & mask
            e = max(e, f)
            e = e >> 23
            f, r = cosine & mask, sine & mask
            f = max(f, r)
            f = f >> 23
            largest = max(e, largest)
            largest = max(f, largest)
            exponent = e + f - 125
            left = 4
            while left:  # mantissas of first, second, cosine and sine take their places
                s = (e if left > 2 else f) - ((first >> 23) & 255)
                v = 0
                if s < 24 and (first >> 23) & 255:
                    v = ((first & 0x7FFFFF) + 0x800000 + (1 << s)) >> (s + 1)
                if (first >> 31) & 1:
                    v = 0 - v
                first, second = second, cosine
                cosine, sine = sine, v
                left -= 1
            a, b, c, d = first >> 12, first & 4095, second >> 12, second & 4095
            e, first, g, second = cosine >> 12, cosine & 4095, sine >> 12, sine & 4095
            place, left = at, 2
            while left:  # the second time, (b, -a) in the place of (a, b)
                upper, middle = a * e - c * g, a * first + b * e - c * second - d * g
                lower = b * first - d * second
                v, sign, r, s = put(out, place, upper, middle, lower, exponent, infinity, mask)
                v, a = a, c
                c = 0 - v
                v, b = b, d
                d = 0 - v
                place += p[10]
                left -= 1
            i += p[11]
            at += p[11]
            j += 1
            pair -= 1
        rest = p[6] - 2 * p[5]
        i += 2 * p[5] - p[5] * p[11]
        at += 2 * p[5] - p[5] * p[11]
        while rest > 0:
            out[at] = x[i]
            i += 1
            at += 1
            rest -= 1
        line += 1
    i = 2
    p[i] = largest
