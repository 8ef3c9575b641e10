"""Block floating point before the sums: floats to mantissas. See loops/block_finish for the rest.

A block of floats shares the biased exponent E (1 to 254) of its largest element. Its mantissas are
a = x / 2**(E - 149), rounded half away from 0 to 24 bits with the sign, from -(2**23 - 1) to 2**23
- 1. Mantissas of weights are stored as a + HALF, HALF = 2**23, so that they are never negative;
this adds HALF * sum(x) to a sum of products. Sums of up to 80 bits are *limbs*: two of 24 bits and
the upper part. x and out hold floats as words. Contents of a model file may have any value: shifts
are bounded, and no value is used as an index.
"""

from ._floats import bias_of_channel, largest_bits, unpack
from ._words import all_but_sign

# Parameters of peak, mantissas, align
_X_START = 0  # [elements] 0..

# Parameters of peak
_PEAK_ELEMENTS = const(1)  # [elements] 0..
_PEAK_OUT_START = const(2)  # [elements] 0..

# Parameters of mantissas
_CHANNELS = const(1)  # of x [channels] 0..
_DEPTH = const(2)  # of x [elements] 0..
_ROWS = const(3)  # of x [elements] 0..
_COLUMNS = const(4)  # of x [elements] 0..
_KERNEL_DEPTH = const(5)  # [elements] 1..
_KERNEL_ROWS = const(6)  # [elements] 1..
_DEPTH_DILATION = const(7)  # [elements] 0..
_ROW_DILATION = const(8)  # [elements] 0..
_CORNER_DEPTH = const(9)  # plane of x at the kernel's corner [elements, BIAS]
_CORNER_ROW = const(10)  # row of x at the first row's corner [elements, BIAS]
_CORNER_COLUMN = const(11)  # column of x at the first position's corner [elements, BIAS]
_OUT_ROWS = const(12)  # [rows] 1..
_ROW_STRIDE = const(13)  # of rows of out [elements] 1..
_POSITIONS = const(14)  # in a row of out; 1 if they share columns [positions] 1..
_COLUMN_STRIDE = const(15)  # of positions [elements] 0..
_KERNEL_COLUMNS = const(16)  # columns of x at a position [elements] 0..
_COLUMN_DILATION = const(17)  # [elements] 0..
_OUT_ROW_STRIDE = const(18)  # from row to row of out [columns] 0..
_OUT_START = const(19)  # [elements] 0..
_EXPONENT = const(20)  # E, plus 24 - b for short mantissas of b bits [exponent] 1..269

# Parameters of align
_ALIGN_X_STRIDE = 1  # from bias to bias; 0: none [elements] 0..
_ALIGN_W_START = 2  # index of the first exponent [bytes] 0..
_ALIGN_W_STRIDE = 3  # from exponent to exponent [bytes] 1..
_ALIGN_CHANNELS = 4  # [channels] 1..
_ALIGN_OUT_START = 5  # [elements] 0..
_ALIGN_EXPONENT = 6  # the same of x, to which those in w are added [exponent] 1..270

# Parameters of fill
_FILL_OUT_START = 0  # [elements] 0..
_FILL_COLUMNS = 1  # of a row [elements] 0..
_FILL_ROWS = const(2)  # [rows] 0..
_FILL_OUT_ROW_STRIDE = const(3)  # from row to row [elements] 0..
_FILL_IS_NEGATIVE = const(4)  # sign of the float [flag] 0, 1
_FILL_MAGNITUDE = const(5)  # of the float [float bits] 0..2**31 - 1


def peak(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Set out[peak_out_start] to the biased exponent of the largest float; 255: inf or NaN.

    Access:
        reads x[x_start : x_start + peak_elements]
        writes out[peak_out_start : peak_out_start + 1]
    """
    i = p[_X_START]
    end, most = i + p[_PEAK_ELEMENTS], 0
    mask = all_but_sign()
    most, i, v = largest_bits(most, x, i, end, mask)
    i = p[_PEAK_OUT_START]
    out[i] = most >> 23


def mantissas(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write columns of an image as mantissas, with zeros outside of the image.

    A column holds the elements (channel, kernel_depth, kernel_row) of one column of x that the
    kernel of a row of out covers. A row of out has kernel_columns of them per position. The corner
    may lie outside of the image.

    Access:
        size = channels * kernel_depth * kernel_rows
        n = positions * kernel_columns
        nelem = channels * depth * rows * columns
        reads x[x_start : x_start + nelem] if size and n
        given magnitude(x[x_start : x_start + nelem]) < min(exponent + 1, 255) << 23
        writes out[out_start : out_start + ((out_rows - 1) * out_row_stride + n) * size] if n
    """
    bias, half, width = 1 << 29, 1 << 23, p[_COLUMNS]
    size = p[_CHANNELS] * p[_KERNEL_DEPTH] * p[_KERNEL_ROWS]
    for element in range(size * p[_OUT_ROWS]):
        place = element % size
        x_row = (
            p[_CORNER_ROW]
            + element // size * p[_ROW_STRIDE]
            + place % p[_KERNEL_ROWS] * p[_ROW_DILATION]
        )
        x_depth = (
            p[_CORNER_DEPTH] + place // p[_KERNEL_ROWS] % p[_KERNEL_DEPTH] * p[_DEPTH_DILATION]
        )
        row_start = 0 - 1
        if (
            x_depth >= bias
            and x_depth < bias + p[_DEPTH]
            and x_row >= bias
            and x_row < bias + p[_ROWS]
        ):
            row_start = place // (p[_KERNEL_DEPTH] * p[_KERNEL_ROWS]) * p[_DEPTH] + x_depth - bias
            row_start = p[_X_START] + (row_start * p[_ROWS] + x_row - bias) * width
        at = p[_OUT_START] + element // size * p[_OUT_ROW_STRIDE] * size + place
        for position in range(p[_POSITIONS]):
            x_column = p[_CORNER_COLUMN] + position * p[_COLUMN_STRIDE]
            for left in range(p[_KERNEL_COLUMNS], 0, -1):
                m = 0
                if row_start >= 0 and x_column >= bias and x_column < bias + width:
                    v = x[row_start + x_column - bias]
                    m, e = unpack(v)
                    if e:
                        m += half
                    else:
                        e = 1
                    e = p[_EXPONENT] - e
                    if e < 0 or e > 23:
                        m = 0
                    else:
                        m = (m + (1 << e)) >> (e + 1)
                        if m == half:
                            m = half - 1
                    if (v >> 31) & 1:
                        m = 0 - m
                out[at] = m
                at += size
                x_column += p[_COLUMN_DILATION]


def align(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """Write the initial sum of each channel: the limbs of its bias, and the exponent.

        x    biases;  w  exponents
        out  4 words per channel: limbs (the last + 2**29), then E + exponent. A bias of more than
             2**76 units has a unit 2**d times as large, so that its limbs fit: the last word is d
             more, plus 1024 * min(d, 12). Sums are below 2**62, so from d = 12 on they do not
             change the rounded result

    Access:
        n = align_channels
        reads x[x_start : x_start + (n - 1) * align_x_stride + 1] if align_x_stride
        reads w[align_w_start : align_w_start + (n - 1) * align_w_stride + 1]
        writes out[align_out_start : align_out_start + 4 * n]
    """
    i, j, at = p[_X_START], p[_ALIGN_W_START], p[_ALIGN_OUT_START]
    end = at + 4 * p[_ALIGN_CHANNELS]
    while at < end:
        m, s, e, i, j, v = bias_of_channel(
            x, i, w, j, p[_ALIGN_X_STRIDE], p[_ALIGN_EXPONENT], p[_ALIGN_W_STRIDE]
        )
        if s > 52:
            if m:
                s -= 52
                low = min(s, 12)
                e += s + (low << 10)
            s = 52
        if s < 0:
            m = m >> (0 - s) if s > 0 - 24 else 0
            s = 0
        low = middle = 0
        if s < 48:
            kept = 24 - s if s < 24 else 48 - s
            middle = (m & ((1 << kept) - 1)) << (24 - kept)
            high = m >> kept
            if s < 24:
                low, middle, high = middle, high, 0
        else:
            high = m << (s - 48)
        if (v >> 31) & 1:
            low = 0 - low
            middle = (low >> 24) - middle
            high = (middle >> 24) - high
        out[at] = low & 0xFFFFFF
        out[at + 1] = middle & 0xFFFFFF
        out[at + 2] = high + (1 << 29)
        out[at + 3] = e
        at += 4


def fill(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Fill rows of out with a float.

    Access:
        n = (fill_rows - 1) * fill_out_row_stride + fill_columns
        writes out[fill_out_start : fill_out_start + n] if fill_columns and fill_rows
    """
    sign = 1  # a variable: constant folding would make big integers
    v = p[_FILL_MAGNITUDE]
    if p[_FILL_IS_NEGATIVE]:
        v -= sign << 31
    for row in range(p[_FILL_ROWS]):
        i = p[_FILL_OUT_START] + row * p[_FILL_OUT_ROW_STRIDE]
        end = i + p[_FILL_COLUMNS]
        while i < end:
            out[i] = v
            i += 1
