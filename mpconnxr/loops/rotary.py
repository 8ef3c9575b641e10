"""Rotation of pairs of a head's elements: a * c - b * s and a * s + b * c. For kernel rotary.

turn     Rotate, with 24 bits of the larger of a and b, and of c and s; round sums once.
finite   Call the rare loop if an element is inf or NaN.

x and out hold strided elements (batches, heads, rows, columns), w for each row the cosines c of
its pairs and the sines s. A line is a row of x, in this order. Elements behind a row's pairs are
copied.
"""

from ._floats import normalize
from ._hints import inline, undefined
from ._words import all_but_sign

# Parameters of turn, finite
_LINE = 0  # the first one: rows of heads of batches [rows] 0..
_LINE_END = 1  # end, exclusive [rows] 0..
_LARGEST = const(2)  # largest exponent, set by turn; 255: inf or NaN [exponent] 0..255
_HEADS = 3  # [heads] 1..
_ROWS = 4  # [rows] 1..
_PAIRS = 5  # pairs of a row [pairs] 1..
_COLUMNS = const(6)  # of a row [elements] 2..
_X_BATCH_STRIDE = 7  # [elements] 0..
_X_HEAD_STRIDE = 8  # [elements] 0..
_X_ROW_STRIDE = 9  # [elements] 0..
_PARTNER_STRIDE = 10  # from the first of a pair to the second [elements] 1..
_PAIR_STRIDE = 11  # [elements] 1, 2
_OUT_BATCH_STRIDE = 12  # [elements] 0..
_OUT_HEAD_STRIDE = 13  # [elements] 0..
_OUT_ROW_STRIDE = 14  # [elements] 0..
_W_BATCH_STRIDE = 15  # [elements] 0..
_W_ROW_STRIDE = 16  # [elements] 0..
_SINE_STRIDE = 17  # from the cosine of a pair to its sine [elements] 1..


@inline
def put(out, at, upper, middle, lower, exponent, infinity, mask):
    """Set out[at] to upper * 2**24 + middle * 2**12 + lower as float32.

    Temporaries: v, sign, r, s.
    """
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
    """Rotate lines; repeat with the rare loop if an element is inf or NaN.

    w lists the rare loop; p; x, cosines and sines, out.

    Access: of the loops it calls
    """
    special, whole = w[0], w[1]
    if p[_LARGEST] == 255:
        special(whole, w)


def turn(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Rotate the pairs of lines.

    Access:
        n = max(columns, (pairs - 1) * pair_stride + partner_stride + 1)
        batches = range(line // (heads * rows), (line_end - 1) // (heads * rows) + 1)
        requires 2 * pairs <= n
        x_last = (heads - 1) * x_head_stride + (rows - 1) * x_row_stride
        out_last = (heads - 1) * out_head_stride + (rows - 1) * out_row_stride
        reads x[b * x_batch_stride : b * x_batch_stride + x_last + n] for b in batches
        writes out[b * out_batch_stride : b * out_batch_stride + out_last + n] for b in batches
        w_last = (rows - 1) * w_row_stride + sine_stride
        reads w[b * w_batch_stride : b * w_batch_stride + w_last + pairs] for b in batches
        writes p[2 : 3]
    """
    mask = all_but_sign()
    infinity = mask - 0x7FFFFF
    largest, line = 0, p[_LINE]
    while True:  # a condition here would branch beyond Xtensa's range
        if line >= p[_LINE_END]:
            break
        row, head = line % p[_ROWS], line // p[_ROWS]
        batch, head = head // p[_HEADS], head % p[_HEADS]
        i = batch * p[_X_BATCH_STRIDE] + head * p[_X_HEAD_STRIDE] + row * p[_X_ROW_STRIDE]
        at = batch * p[_OUT_BATCH_STRIDE] + head * p[_OUT_HEAD_STRIDE] + row * p[_OUT_ROW_STRIDE]
        j = batch * p[_W_BATCH_STRIDE] + row * p[_W_ROW_STRIDE]
        pair = p[_PAIRS]
        while pair:
            first, second = x[i], x[i + p[_PARTNER_STRIDE]]
            cosine, sine = w[j], w[j + p[_SINE_STRIDE]]
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
            while left:  # replace first, second, cosine and sine by their mantissas
                shift = (e if left > 2 else f) - ((first >> 23) & 255)
                v = 0
                if shift < 24 and (first >> 23) & 255:
                    v = ((first & 0x7FFFFF) + 0x800000 + (1 << shift)) >> (shift + 1)
                if (first >> 31) & 1:
                    v = 0 - v
                first, second = second, cosine
                cosine, sine = sine, v
                left -= 1
            a, b, c, d = first >> 12, first & 4095, second >> 12, second & 4095
            e, first, g, second = cosine >> 12, cosine & 4095, sine >> 12, sine & 4095
            place, left = at, 2
            while left:  # in the second round, (b, -a) instead of (a, b)
                upper, middle = a * e - c * g, a * first + b * e - c * second - d * g
                lower = b * first - d * second
                v, sign, r, shift = put(out, place, upper, middle, lower, exponent, infinity, mask)
                v, a = a, c
                c = 0 - v
                v, b = b, d
                d = 0 - v
                place += p[_PARTNER_STRIDE]
                left -= 1
            i += p[_PAIR_STRIDE]
            at += p[_PAIR_STRIDE]
            j += 1
            pair -= 1
        rest = p[_COLUMNS] - 2 * p[_PAIRS]
        i += 2 * p[_PAIRS] - p[_PAIRS] * p[_PAIR_STRIDE]
        at += 2 * p[_PAIRS] - p[_PAIRS] * p[_PAIR_STRIDE]
        while rest > 0:
            out[at] = x[i]
            i += 1
            at += 1
            rest -= 1
        line += 1
    i = _LARGEST
    p[i] = largest
