"""Matrices of bytes as the weights of loops/qdot.

Element (matrix, row, column) of x lies at matrix * x_matrix_stride + row * x_row_stride + column *
x_column_stride. Signed bytes become unsigned by flip. out holds words as in loops/qdot: two for
each column of all matrices, then, from out_start on, the columns of each matrix, zero-padded to a
multiple of 4 bytes.

    rest = rows * x_zero_point - the sum of a column
    first word = (other_zero_point * rest << shift) + first_word
    second word = second_word, or rest if that is 0

|other_zero_point * rest| << shift stays below 2**31.
"""

from ._hints import inline

# Parameters of columns
_START = 0  # first matrix [matrices] 0..
_END = 1  # end, exclusive [matrices] 1..
_ROWS = const(2)  # of a matrix [elements] 1..33024
_COLUMNS = const(3)  # of a matrix [elements] 1..
_X_MATRIX_STRIDE = const(4)  # from matrix to matrix of x [elements] 0..
_X_ROW_STRIDE = const(5)  # from row to row of x [elements] 0..
_X_COLUMN_STRIDE = const(6)  # from column to column of x [elements] 0..
_FLIP = const(7)  # 128 if x is signed [mask] 0, 128
_OTHER_ZERO_POINT = const(8)  # of the product's other operand [value] 0..255
_X_ZERO_POINT = const(9)  # of x ^ flip [value] 0..255
_SHIFT = const(10)  # left shift of the bias in the first word [bits] 0, 5
_FIRST_WORD = const(11)  # lower bits of the first word [value] 0..31
_SECOND_WORD = const(12)  # 0: rest instead [value] 0..2**31 - 1
_OUT_START = const(13)  # start of the rows [words] 2..


@inline
def add_element(total, x, i, flip, stride):
    """Return total minus the next element of a column, the next index, and the element."""
    v = x[i] ^ flip
    total -= v
    i += stride
    return total, i, v


def columns(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    """Write the table and the columns of the matrices.

    Access:
        words = (rows + 3) // 4 * columns
        last = (rows - 1) * x_row_stride + (columns - 1) * x_column_stride
        requires start < end
        reads x[start * x_matrix_stride : (end - 1) * x_matrix_stride + last + 1]
        writes out[2 * start * columns : 2 * end * columns]
        writes out[out_start + start * words : out_start + end * words]
    """
    whole, words, flip = p[_ROWS] >> 2, (p[_ROWS] + 3) >> 2, p[_FLIP]
    for matrix in range(p[_START], p[_END]):
        first, table = matrix * p[_X_MATRIX_STRIDE], 2 * matrix * p[_COLUMNS]
        row = p[_OUT_START] + matrix * p[_COLUMNS] * words
        of_tile, columns_left = 0, p[_COLUMNS]
        while columns_left:
            turns = 4 if columns_left > 3 or of_tile else 1
            i, place, total = first, row, p[_ROWS] * p[_X_ZERO_POINT]
            for n in range(whole, 0, -1):
                total, i, v = add_element(total, x, i, flip, p[_X_ROW_STRIDE])
                word = v
                total, i, v = add_element(total, x, i, flip, p[_X_ROW_STRIDE])
                word = word | (v << 8)
                total, i, v = add_element(total, x, i, flip, p[_X_ROW_STRIDE])
                word = word | (v << 16)
                total, i, v = add_element(total, x, i, flip, p[_X_ROW_STRIDE])
                out[place] = word + (((v ^ 128) - 128) << 24)
                place += turns
            if whole < words:
                word, n = 0, 0
                for k in range(p[_ROWS] & 3):
                    total, i, v = add_element(total, x, i, flip, p[_X_ROW_STRIDE])
                    word = word | (v << n)
                    n += 8
                out[place] = word
            out[table] = ((total * p[_OTHER_ZERO_POINT]) << p[_SHIFT]) + p[_FIRST_WORD]
            table += 1
            out[table] = p[_SECOND_WORD] if p[_SECOND_WORD] else total
            table += 1
            first += p[_X_COLUMN_STRIDE]
            columns_left -= 1
            row += 1
            if turns == 1:
                row += words - 1
            else:
                of_tile += 1
                if of_tile == 4:
                    of_tile = 0
                    row += 4 * words - 4
