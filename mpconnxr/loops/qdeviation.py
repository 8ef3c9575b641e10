"""Rows of quantized bytes divided by the root of their quantized variance.

spread8      Write four words for each row: m, the mean rounded down; R and shift of the row's
             variance; the rest of the mean, times R. w holds a word for each of the 256 bytes of
             a variance: R, 22 bits, and shift, up to 29, times 2**24.
deviations8  Set out[i] = saturate(round(((x[i] - m) * R - rest) / 2**shift) + zero_point); w is
             the result of spread8.

x holds bytes (rows, columns), and so does out of deviations8. The variance of a row is
saturate(round(V * multiplier / 2**shift) + variance_zero_point) with V = columns * sum((x - m) **
2) - sum(x - m) ** 2. Saturated values are from 0 to 255. Signed bytes become unsigned by flip,
also those of out.
"""

# Parameters of spread8, deviations8
_ROW = 0  # first row [rows] 0..
_ROW_END = 1  # end, exclusive [rows] 0..
_COLUMNS = const(2)  # [elements] 1..32767
_FLIP = const(3)  # 128 where x and out are signed [mask] 0, 128

# Parameters of spread8
_MULTIPLIER = const(4)  # multiplier of V, the variance times columns**2 [multiplier] 0..2**30 - 1
_SHIFT = const(5)  # right shift of the product [bits] 0..127
_VARIANCE_ZERO_POINT = const(6)  # unsigned [value] 0..255

# Parameters of deviations8
_ZERO_POINT = const(4)  # of out, unsigned [value] 0..255


def spread8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Compute mean and variance of rows.

    Access:
        requires row < row_end
        reads x[row * columns : row_end * columns]
        reads w[0:256]
        writes out[0 : 4 * (row_end - row)]
        given multiplier >= 1 << 29
        given 0 <= w[0 : 256] < 30 << 24
    """
    columns, flip, at = p[_COLUMNS], p[_FLIP], 0
    multiplier_high, multiplier_low = p[_MULTIPLIER] >> 15, p[_MULTIPLIER] & 32767
    for row in range(p[_ROW], p[_ROW_END]):
        first, total, squares = row * columns, 0, 0
        end = first + columns
        for i in range(first, end):
            total += x[i] ^ flip
        mean = total // columns
        total -= columns * mean
        for i in range(first, end):
            v = (x[i] ^ flip) - mean
            squares += v * v
        low = columns * (squares & 32767) - total * total
        v = columns * (squares >> 15) + (low >> 15)
        low = ((v & 32767) << 15) | (low & 32767)
        v = v >> 15
        shift = 30 - p[_SHIFT]  # V = v * 2**30 + low; e: left shift of the product
        while v < 1 << 24 and shift > 0 - 30:
            v = (v << 6) | (low >> 24)
            low = (low << 6) & 0x3FFFFFFF
            shift -= 6
        while v < 1 << 29 and shift > 0 - 30:
            v = (v << 1) | (low >> 29)
            low = (low << 1) & 0x3FFFFFFF
            shift -= 1
        high, b = v >> 15, v & 32767
        v = high * multiplier_high + (
            (high * multiplier_low + b * multiplier_high + (b * multiplier_low >> 15)) >> 15
        )
        if shift > 0 - 20:
            v = 255 if v else 0
        else:
            shift = min(0 - shift, 30)
            v = (v + (1 << (shift - 1))) >> shift
        v = min(v + p[_VARIANCE_ZERO_POINT], 255)
        v = w[v]
        shift, v = v >> 24, v & 0x3FFFFF
        out[at] = mean
        out[at + 1] = v
        out[at + 2] = shift
        out[at + 3] = (total * (v >> 7) // columns << 7) + total * (v & 127) // columns
        at += 4


def deviations8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Divide rows by their deviations.

    Access:
        requires row < row_end
        reads x[row * columns : row_end * columns]
        reads w[0 : 4 * (row_end - row)]
        writes out[row * columns : row_end * columns]
        rows = range(row_end - row)
        given 0 <= w[4 * i : 4 * i + 1] < 256 for i in rows
        given 0 <= w[4 * i + 1 : 4 * i + 2] < 1 << 22 for i in rows
        given 0 <= w[4 * i + 2 : 4 * i + 3] < 30 for i in rows
        given 0 <= w[4 * i + 3 : 4 * i + 4] < 1 << 22 for i in rows
    """
    flip, zero_point, at = p[_FLIP], p[_ZERO_POINT], 0
    i = p[_ROW] * p[_COLUMNS]
    for rows in range(p[_ROW_END] - p[_ROW], 0, -1):
        mean, root, shift = w[at], w[at + 1], min(w[at + 2], 30)
        rest = w[at + 3] - (1 << shift >> 1) + mean * root
        at += 4
        end = i + p[_COLUMNS]
        while i < end:
            v = (((x[i] ^ flip) * root - rest) >> shift) + zero_point
            v = min(max(v, 0), 255)
            out[i] = v ^ flip
            i += 1
