"""Rows of quantized bytes normalized to mean 0 and variance 1.

roots8       Copy the factors and offsets of normalized8 from w to out, then write four words for
             each row: m, about the mean; R, 23 bits of 2**a / deviation; the rest of the mean,
             times R, + 2**29; 32 + the right shift of products with R (below 32: left shift).
normalized8  Set out[i] = saturate((v * G / 2**27 + B) >> point),
             v = ((x[i] - m) * R - rest) >> shift.

x holds bytes (rows, columns), and so does out of normalized8. w of normalized8 holds two words for
each column, a factor G, up to 2**30, + 2**30, and an offset B, up to 2**29, + 2**29; then the
results of roots8.

V = columns * sum((x - m) ** 2) - sum(x - m) ** 2 is exact; the deviation is sqrt(V + epsilon *
2**exponent) / columns, and v, up to 2**25, is (x - mean) / deviation * 2**a. v * G is a product of
55 bits, truncated to 28. Results saturate to 0 .. 255. Signed bytes become unsigned by flip, also
those of out.
"""

from ._hints import inline, undefined
from ._words import swap, times_multiplier

# Parameters of roots8, normalized8
_ROW = 0  # first row [rows] 0..
_ROW_END = 1  # end, exclusive [rows] 0..
_COLUMNS = const(2)  # [elements] 1..32767
_FLIP = const(3)  # 128 where x and out are signed [mask] 0, 128

# Parameters of roots8
_SHIFT = const(4)  # 37 - a - b: b bits of columns - 1 [bits] -31..31
_EPSILON = const(5)  # times columns**2: 30 bits, the highest set; or 0 [value] 0..2**30 - 1
_EXPONENT = const(6)  # of epsilon, + 1024 [exponent] 897..1151
_BITS = const(7)  # b [bits] 0..15
_RECIPROCAL = const(8)  # 1 / columns [multiplier] 0..2**17 - 1
_SUM_SHIFT = const(9)  # right shift before the product with reciprocal [bits] 0..31
_RECIPROCAL_SHIFT = const(10)  # right shift after it [bits] 0..31

# Parameters of normalized8
_POINT = const(4)  # fraction bits of products with the factors [bits] 0..29


@inline
def bits_of(v, low, exponent, step):
    """Shift v left, `step` bits at a time, until it has 30 bits; fill it from the 30 bits of low.

    Returns v, the rest of low, and the exponent of v.
    """
    while v < 1 << (30 - step):
        v = (v << step) | (low >> (30 - step))
        low = (low << step) & 0x3FFFFFFF
        exponent -= step
    return v, low, exponent


@inline
def product(a, b, bits):
    """Return a * b >> bits, for a of `bits` bits and b of 23. Temporary: more."""
    more = undefined
    if bits > 7:
        more = a * (b >> 8) + (a * (b & 255) >> 8)
        a = more >> (bits - 8)
    else:
        a = a * b >> bits
    return a, more


def roots8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Compute mean and inverse deviation of rows.

    Access:
        requires row < row_end
        reads x[row * columns : row_end * columns]
        reads w[0 : 2 * columns]
        writes out[0 : 2 * columns + 4 * (row_end - row)]
    """
    flip, columns, at = p[_FLIP], p[_COLUMNS], 2 * p[_COLUMNS]
    for i in range(at):
        out[i] = w[i]
    for row in range(p[_ROW], p[_ROW_END]):
        first, total, squares = row * columns, 0, 0
        end = first + columns
        for i in range(first, end):
            total += x[i] ^ flip
        mean = ((total + (columns >> 1)) >> p[_SUM_SHIFT]) * p[_RECIPROCAL] >> p[_RECIPROCAL_SHIFT]
        total -= columns * mean
        for i in range(first, end):
            variance = (x[i] ^ flip) - mean
            squares += variance * variance
        low = columns * (squares & 32767) - total * total
        variance = columns * (squares >> 15) + (low >> 15)
        low = ((variance & 32767) << 15) | (low & 32767)
        variance = variance >> 15
        a = rest = shift = 0
        if variance or low:
            exponent = 30
            variance, low, exponent = bits_of(variance, low, exponent, 6)
            variance, low, exponent = bits_of(variance, low, exponent, 1)
            a, b = p[_EPSILON], p[_EXPONENT] - 1024
            if b > exponent:
                a, variance, c = swap(a, variance)
                b, exponent, c = swap(b, exponent)
            if exponent - b < 30:
                variance += a >> (exponent - b)
            if variance >> 30:
                variance = variance >> 1
                exponent += 1
            if exponent & 1:
                variance = variance >> 1
                exponent += 1
            b = c = 0  # square root of v * 2**16, two bits at a time
            for n in range(23, 0, -1):
                c = (c << 2) | (variance >> 28)
                variance = (variance << 2) & 0x3FFFFFFF
                b = b << 1
                if c > b + b:
                    c -= b + b + 1
                    b += 1
            a, c = 0, 1 << 22
            for n in range(23, 0, -1):
                c, a = c << 1, a << 1
                if c >= b:
                    c -= b
                    a += 1
            shift = min(p[_SHIFT] + (exponent >> 1), 30)
            rest = total
            rest, b = product(rest, a, p[_BITS])
            b, c = columns, a
            b, a = product(b, c, p[_BITS])
            a = b
        out[at] = mean
        out[at + 1] = a
        out[at + 2] = (1 << 29) + rest
        out[at + 3] = 32 + shift
        at += 4


def normalized8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Normalize rows.

    Access:
        requires row < row_end
        reads x[row * columns : row_end * columns]
        reads w[0 : 2 * columns + 4 * (row_end - row)]
        writes out[row * columns : row_end * columns]
    """
    flip, point, bias = p[_FLIP], p[_POINT], 1 << 29
    i, of_row = p[_ROW] * p[_COLUMNS], 2 * p[_COLUMNS]
    for rows in range(p[_ROW_END] - p[_ROW], 0, -1):
        at = of_row
        of_row += 4
        mean, root, rest, right = w[at], w[at + 1], w[at + 2] - bias, w[at + 3] - 32
        left = 0
        if right < 0:
            left, right = 0 - right, 0
        half = 1 << right >> 1
        end, at = i + p[_COLUMNS], 0
        while i < end:
            v = ((((x[i] ^ flip) - mean) * root - rest << left) + half) >> right
            high, low = (w[at] >> 15) - 32768, w[at] & 32767
            v, more, low, part = times_multiplier(v, high, low)
            v = min(max((v + w[at + 1] - bias) >> point, 0), 255)
            out[i] = v ^ flip
            at += 2
            i += 1
