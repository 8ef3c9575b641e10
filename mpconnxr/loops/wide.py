"""Loops on 16-bit integers: im2col, sums, products, casts and pooling.

Elements are uint16: signed ones are stored plus 32768 (flip), and so are zero points of inputs.

wide_patches     Write patches, like loops/patches. A record is the sum of a patch, two elements
                 (low, high), then its channels * kernel_rows * kernel_columns elements.
wide_add         Write x * x_multiplier + w * w_multiplier, both without their zero points. A sum
                 has add_point fraction bits.
wide_mul         Write (x - 32768) * (w - 32768) * multiplier * 2**shift, rounded like a sum of
                 loops/wide_dots.
wide_quantize    Write x / scale, rounded as float32 and then half to even. x holds float32 as
                 words, w the positive scale. NaN counts as 0.
wide_dequantize  Write (x - zero point) * scale, rounded to even. w holds the scale; w and out hold
                 float32 as words.
wide_max         Write the largest element of each window.

wide_add, wide_mul and wide_quantize add the zero point of out, and clip to low .. high.
"""

from ._bytes import next_place
from ._words import quotient, signed

# Parameters of wide_patches
_X_START = const(0)  # start of the image [elements] 0..
_CHANNELS = const(1)  # [elements] 1..
_KERNEL_ROWS = const(2)  # [elements] 1..
_KERNEL_COLUMNS = const(3)  # [elements] 1..
_X_CHANNEL_STRIDE = const(4)  # from channel to channel of x [elements] 0..
_KERNEL_ROW_STEP = const(5)  # from row to row of the kernel in x [elements] 0..
_KERNEL_COLUMN_STEP = const(6)  # from column to column of the kernel in x [elements] 0..
_ROWS = const(7)  # of x [elements] 1..
_COLUMNS = const(8)  # of x [elements] 1..
_ROW_DILATION = const(9)  # [elements] 0..
_COLUMN_DILATION = const(10)  # [elements] 0..
_ROW_STRIDE = const(11)  # of positions [elements] 0..
_COLUMN_STRIDE = const(12)  # of positions [elements] 0..
_X_ROW_STRIDE = const(13)  # from row to row of x [elements] 0..
_X_COLUMN_STRIDE = const(14)  # from column to column of x [elements] 0..
_OUT_COLUMNS = const(15)  # positions in a row of the output [elements] 1..
_ROW = const(16)  # of the first position [elements] 0..
_COLUMN = const(17)  # of the first position, counted from column 0 of its row [elements] 0..
_FLIP = const(18)  # 32768 if x is signed [mask] 0, 32768
_PADDING = const(19)  # an element outside of x, unsigned [value] 0..65535
_POSITIONS = const(20)  # [positions] 1..
_UNUSED = const(21)  # unused; record_padding in patches [value] 0
_CORNER_ROW = const(22)  # row of x at the corner of row 0 [elements, BIAS]
_CORNER_COLUMN = const(23)  # column of x at the corner of column 0 [elements, BIAS]

# Parameters of wide_add, wide_mul, wide_quantize, wide_dequantize
_START = const(0)  # first element [elements] 0..
_END = const(1)  # end, exclusive [elements] 0..

# Parameters of wide_add
_ADD_X_MULTIPLIER = const(2)  # 15 fraction bits [multiplier, BIAS] -2**29..2**29
_ADD_W_MULTIPLIER = const(3)  # 15 fraction bits [multiplier, BIAS] -2**29..2**29
_ADD_FLIP = const(4)  # 32768 if x, w and out are signed [mask] 0, 32768
_ADD_POINT = const(5)  # fraction bits of a sum [bits] 1..13
_ADD_X_ZERO_POINT = const(6)  # of x ^ flip [value] 0..65535
_ADD_W_ZERO_POINT = const(7)  # of w ^ flip [value] 0..65535
_ADD_OUT_ZERO_POINT = const(8)  # [value, BIAS] -32768..65535
_ADD_LOW = const(9)  # of out [value, BIAS] -32768..65535
_ADD_HIGH = const(10)  # of out [value, BIAS] -32768..65535

# Parameters of wide_mul
_MUL_SHIFT = const(2)  # left shift; from 32 on, right shift by mul_shift - 32 [bits] 0..63
_MUL_OUT_ZERO_POINT = const(3)  # [value, BIAS] -32768..65535
_MUL_LOW = const(4)  # of out [value, BIAS] -32768..65535
_MUL_HIGH = const(5)  # of out [value, BIAS] -32768..65535
_MUL_HALF = const(6)  # added before a right shift [value] 0..
_MUL_FLIP = const(7)  # 32768 if x, w and out are signed [mask] 0, 32768
_MUL_MULTIPLIER_HIGH = const(8)  # its upper 12 bits [value] 0..4095
_MUL_MULTIPLIER_LOW = const(9)  # its lower 12 bits [value] 0..4095

# Parameters of wide_quantize
_QUANTIZE_SCALE_START = const(2)  # index of the scale in w [elements] 0
_QUANTIZE_MAGNITUDE_MASK = const(3)  # all bits except the sign [mask] 2**31 - 1
_QUANTIZE_INFINITY = const(4)  # [float bits] 2139095040
_QUANTIZE_OUT_ZERO_POINT = const(5)  # [value, BIAS] -32768..65535
_QUANTIZE_LOW = const(6)  # of out [value, BIAS] -32768..65535
_QUANTIZE_HIGH = const(7)  # of out [value, BIAS] -32768..65535

# Parameters of wide_dequantize
_DEQUANTIZE_X_ZERO_POINT = const(2)  # of x ^ flip [value] 0..65535
_DEQUANTIZE_FLIP = const(3)  # 32768 if x is signed [mask] 0, 32768

# Parameters of wide_max
_MAX_PLANES = const(0)  # [planes] 1..
_MAX_ROWS = const(1)  # of x [elements] 0..
_MAX_COLUMNS = const(2)  # of x [elements] 0..
_MAX_KERNEL_ROWS = const(3)  # [elements] 1..
_MAX_KERNEL_COLUMNS = const(4)  # [elements] 1..
_MAX_OUT_ROWS = const(5)  # [elements] 1..
_MAX_OUT_COLUMNS = const(6)  # [elements] 1..
_MAX_ROW_STRIDE = const(7)  # stride of windows [elements] 0..
_MAX_COLUMN_STRIDE = const(8)  # stride of windows [elements] 0..
_MAX_ROW_DILATION = const(9)  # [elements] 1..
_MAX_COLUMN_DILATION = const(10)  # [elements] 1..
_MAX_FLIP = const(11)  # 32768 if x and out are signed [mask] 0, 32768
_MAX_ROW_PADDING = const(12)  # rows of the first window above x [elements, BIAS]
_MAX_COLUMN_PADDING = const(13)  # columns of the first window left of x [elements, BIAS]


def wide_patches(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """Write the records of positions.

    Access:
        patch = channels * kernel_rows * kernel_columns
        last = ((channels - 1) * x_channel_stride + (rows - 1) * x_row_stride
            + (columns - 1) * x_column_stride)
        slack = ((kernel_rows - 1) * (kernel_row_step - row_dilation * x_row_stride),
            (kernel_columns - 1) * (kernel_column_step - column_dilation * x_column_stride))
        reads x[x_start + sum(min(v, 0) for v in slack)
            : x_start + last + sum(max(v, 0) for v in slack) + 1]
        writes out[0 : positions * (2 + patch)]
    """
    bias, n, row = 1 << 29, 0, p[_ROW]
    column = p[_COLUMN]
    while column >= p[_OUT_COLUMNS]:
        column -= p[_OUT_COLUMNS]
        row += 1
    for positions_left in range(p[_POSITIONS], 0, -1):
        corner_row = p[_CORNER_ROW] + row * p[_ROW_STRIDE]
        corner_column = p[_CORNER_COLUMN] + column * p[_COLUMN_STRIDE]
        base = (
            p[_X_START]
            + (corner_row - bias) * p[_X_ROW_STRIDE]
            + (corner_column - bias) * p[_X_COLUMN_STRIDE]
        )
        record = n
        n += 2
        total = 0
        for line in range(p[_CHANNELS] * p[_KERNEL_ROWS]):
            kernel_row = line % p[_KERNEL_ROWS]
            i = (
                base
                + line // p[_KERNEL_ROWS] * p[_X_CHANNEL_STRIDE]
                + kernel_row * p[_KERNEL_ROW_STEP]
            )
            x_row = corner_row + kernel_row * p[_ROW_DILATION]
            is_covered = x_row >= bias and x_row < bias + p[_ROWS]
            x_column, end = corner_column, n + p[_KERNEL_COLUMNS]
            while n < end:
                v = p[_PADDING]
                if is_covered and x_column >= bias and x_column < bias + p[_COLUMNS]:
                    v = x[i] ^ p[_FLIP]
                out[n] = v
                total += v
                i += p[_KERNEL_COLUMN_STEP]
                x_column += p[_COLUMN_DILATION]
                n += 1
        out[record] = total & 65535
        out[record + 1] = total >> 16
        column, row = next_place(column, row, p[_OUT_COLUMNS])


def wide_add(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """Add elements.

    Access:
        reads x[start : end]
        reads w[start : end]
        writes out[start : end]
    """
    bias, half = 1 << 29, (1 << (p[_ADD_POINT] - 1)) - 1
    for i in range(p[_START], p[_END]):
        a = (x[i] ^ p[_ADD_FLIP]) - p[_ADD_X_ZERO_POINT]
        b = (w[i] ^ p[_ADD_FLIP]) - p[_ADD_W_ZERO_POINT]
        multiplier = p[_ADD_X_MULTIPLIER] - bias
        v = a * (multiplier >> 15)
        low = a * ((multiplier >> 3) & 4095) + ((a * (multiplier & 7)) >> 3)
        multiplier = p[_ADD_W_MULTIPLIER] - bias
        v += b * (multiplier >> 15)
        low += b * ((multiplier >> 3) & 4095) + ((b * (multiplier & 7)) >> 3)
        v += (low + 2048) >> 12
        v = max(
            ((v + half + ((v >> p[_ADD_POINT]) & 1)) >> p[_ADD_POINT])
            + p[_ADD_OUT_ZERO_POINT]
            - bias,
            p[_ADD_LOW] - bias,
        )
        v = min(v, p[_ADD_HIGH] - bias)
        out[i] = v & 65535


def wide_mul(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """Multiply elements.

    Access:
        as wide_add
        given mul_shift < 62
            and mul_half == (1 << min(mul_shift - 33, 28) if mul_shift > 32 else 0)
    """
    bias, shift, multiplier_high = 1 << 29, p[_MUL_SHIFT], p[_MUL_MULTIPLIER_HIGH]
    multiplier_low = p[_MUL_MULTIPLIER_LOW]
    for i in range(p[_START], p[_END]):
        v = ((x[i] ^ p[_MUL_FLIP]) - 32768) * ((w[i] ^ p[_MUL_FLIP]) - 32768) + p[_MUL_HALF]
        if shift > 31:
            v = v >> (shift - 32)
        else:
            most = (bias << 1) >> shift
            v = max(min(v, most), 0 - most)
            v = v << shift
        rest, v = v & 32767, v >> 15
        m = (
            ((v * multiplier_low) << 3)
            + rest * multiplier_high
            + ((rest * multiplier_low) >> 12)
            + 2048
        )
        v = ((v * multiplier_high) << 3) + (m >> 12)
        v = max(
            ((v + 4095 + ((v >> 13) & 1)) >> 13) + p[_MUL_OUT_ZERO_POINT] - bias,
            p[_MUL_LOW] - bias,
        )
        v = min(v, p[_MUL_HIGH] - bias)
        out[i] = v & 65535


def wide_max(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """Compute the maxima of planes.

    Access:
        reads x[0 : max_planes * max_rows * max_columns]
        writes out[0 : max_planes * max_out_rows * max_out_columns]
    """
    bias, n, flip = 1 << 29, 0, p[_MAX_FLIP]
    end = p[_MAX_PLANES] * p[_MAX_OUT_ROWS] * p[_MAX_OUT_COLUMNS]
    while n < end:
        top = (
            n // p[_MAX_OUT_COLUMNS] % p[_MAX_OUT_ROWS] * p[_MAX_ROW_STRIDE]
            - p[_MAX_ROW_PADDING]
            + bias
        )
        left = n % p[_MAX_OUT_COLUMNS] * p[_MAX_COLUMN_STRIDE] - p[_MAX_COLUMN_PADDING] + bias
        plane = n // (p[_MAX_OUT_ROWS] * p[_MAX_OUT_COLUMNS]) * p[_MAX_ROWS]
        most = 0
        for kernel_row in range(p[_MAX_KERNEL_ROWS]):
            row = top + kernel_row * p[_MAX_ROW_DILATION]
            if row >= 0 and row < p[_MAX_ROWS]:
                i = (plane + row) * p[_MAX_COLUMNS]
                for kernel_column in range(p[_MAX_KERNEL_COLUMNS]):
                    column = left + kernel_column * p[_MAX_COLUMN_DILATION]
                    if column >= 0 and column < p[_MAX_COLUMNS]:
                        v = x[i + column] ^ flip
                        most = max(v, most)
        out[n] = most ^ flip
        n += 1


def wide_quantize(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """Quantize elements.

    Access:
        reads x[start : end]
        reads w[quantize_scale_start : quantize_scale_start + 1]
        writes out[start : end]
    """
    bias, i = 1 << 29, p[_QUANTIZE_SCALE_START]
    scale = (w[i] & 8388607) | 8388608
    scale_exponent = ((w[i] >> 23) & 255) - 127
    for i in range(p[_START], p[_END]):
        v = x[i]
        exponent, mantissa = (v >> 23) & 255, (v & 8388607) | 8388608
        if mantissa < scale:
            mantissa = mantissa << 1
            exponent -= 1
        exponent = 150 + scale_exponent - exponent  # bits of the quotient behind the point
        result = 0
        if v & p[_QUANTIZE_MAGNITUDE_MASK] > p[_QUANTIZE_INFINITY] or exponent > 24:
            exponent = 1
        elif exponent < 6:
            result, exponent = 1 << 20, 1
        else:
            n = 25
            result, mantissa, n = quotient(result, mantissa, scale, n)
            result = (result >> 1) + (1 if result & 1 and (mantissa or result & 2) else 0)
        result = signed(
            (result + (1 << (exponent - 1)) - 1 + ((result >> exponent) & 1)) >> exponent,
            (v >> 31) & 1,
        )
        result += p[_QUANTIZE_OUT_ZERO_POINT] - bias
        result = min(max(result, p[_QUANTIZE_LOW] - bias), p[_QUANTIZE_HIGH] - bias)
        out[i] = result & 65535


def wide_dequantize(x: ptr16, w: ptr32, out: ptr32, p: ptr32):
    """Dequantize elements.

    Access:
        reads x[start : end]
        reads w[0 : 1]
        writes out[start : end]
        given 27 << 23 <= w[0 : 1] < 228 << 23
    """
    i = 0
    scale = w[i]
    for i in range(p[_START], p[_END]):
        mantissa = (x[i] ^ p[_DEQUANTIZE_FLIP]) - p[_DEQUANTIZE_X_ZERO_POINT]
        exponent = ((scale >> 23) & 255) + 14
        v = mantissa
        mantissa = abs(mantissa)
        if mantissa:
            while mantissa < 32768:
                mantissa = mantissa << 1
                exponent -= 1
            rest = mantissa * (scale & 4095)
            mantissa = mantissa * (((scale >> 12) & 2047) | 2048) + (rest >> 12)
            rest = rest & 4095
            if mantissa >> 27:
                exponent += 1
                rest = (rest >> 1) | (rest & 1) | (mantissa & 1) << 11
                mantissa = mantissa >> 1
            rest, mantissa = rest | (mantissa & 7) << 12, mantissa >> 3
            if rest > 16384 or (rest == 16384 and mantissa & 1):
                mantissa += 1
            mantissa += exponent << 23
            if v < 0:
                v = 1  # constant folding of 1 << 31 would make an object
                mantissa = mantissa - (v << 30) - (v << 30)
        out[i] = mantissa
