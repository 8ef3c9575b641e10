"""Rows of x combined into rows of out that indices select. Plain form.

x and out hold rows of elements_per_row. w is (indices; the step's name, ASCII). Integer dtypes
wrap around. A row with an index out of range is skipped; InputError is raised after the last row.
"""

from ..ops._refuse import refuse

# Parameters of scatter
_START = 0  # first row of x [rows] 0..
_END = 1  # end, exclusive [rows] 0..
_OUT_ROWS = const(2)  # [rows] 0..
_ELEMENTS_PER_ROW = const(3)  # [elements] 1..
_OPERATION = const(4)  # 1 add, 2 mul, 3 max, 4 min [code] 1..4
_BITS_IF_SIGNED = const(5)  # bits of a signed integer dtype, else 0 [bits] 0..64
_BITS = const(6)  # bits of an integer dtype, else 0 [bits] 0..64


def scatter(x, w, out, p):
    """Combine rows.

    Access:
        reads w[0 : 2]
        reads w[0][start : end]
        reads x[start * elements_per_row : end * elements_per_row]
        updates out[0 : out_rows * elements_per_row]
    """
    indices, elements, operation = w[0], p[_ELEMENTS_PER_ROW], p[_OPERATION]
    half, mask = 1 << p[_BITS_IF_SIGNED] >> 1, (1 << p[_BITS]) - 1
    is_good = True
    row = p[_START]
    while row < p[_END]:
        place = indices[row] * elements
        i = row * elements
        row += 1
        if not 0 <= place < p[_OUT_ROWS] * elements:
            is_good = False
            continue
        while i < row * elements:
            old, v = out[place], x[i]
            if operation == 1:
                v = old + v
            elif operation == 2:
                v = old * v
            elif old != old or (old > v if operation == 3 else old < v):
                v = old
            if mask:
                v = (v + half & mask) - half
            out[place] = v
            i += 1
            place += 1
    if not is_good:
        refuse(w[1], "an index is out of range")
