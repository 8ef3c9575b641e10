"""Floats of an image to mantissas: the viper form of loops/block, which has the parameters.

For each row of out (a band) and each element of its columns (channel, kernel depth, kernel row),
the floats under the kernel become mantissas as in loops/block, with two shortcuts:

1. Which floats of a row lie outside of the image is computed before they are read.
2. If bands overlap, only the last `ahead` kernel rows are computed; the others are copied from
   the band before.

The emitter keeps the first three locals in registers (two in .mpy files): the pointer to a float,
its bits (in `w`, cast to a pointer), and the pointer to the mantissa.
"""

from .._hints import far
from .._viper import ptr32
from ..block import align, fill, peak  # noqa: F401  (short)


def mantissas(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    bias, half, plane = 1 << 29, 1 << 23, int(x) + 4 * p[_X_START]
    band, size = int(out) + 4 * p[_OUT_START], p[_CHANNELS] * p[_KERNEL_DEPTH] * p[_KERNEL_ROWS]
    step = 4 * size  # from column to column of a row
    line_size, corner_column, corner_row = (
        4 * p[_COLUMNS],
        p[_CORNER_COLUMN] - bias,
        p[_CORNER_ROW] - bias,
    )
    kernel_columns, dilation = p[_KERNEL_COLUMNS], p[_COLUMN_DILATION]
    x_step, span, exponent = 4 * dilation, (kernel_columns - 1) * dilation, p[_EXPONENT]
    is_small = 1 if exponent < 25 else 0  # else denormals round to 0
    ahead = 1  # elements of a column that the band before lacks; all of them: no overlap
    while ahead < p[_KERNEL_ROWS] and ahead * p[_ROW_DILATION] < p[_ROW_STRIDE]:
        ahead += 1
    if ahead * p[_ROW_DILATION] != p[_ROW_STRIDE]:
        ahead = p[_KERNEL_ROWS]
    for bands in far(range(p[_OUT_ROWS], 0, -1)):
        row = kernel_row = kernel_depth = first_depth = 0
        while row < size:
            x_row, x_depth = (
                corner_row + kernel_row * p[_ROW_DILATION],
                p[_CORNER_DEPTH] - bias + kernel_depth * p[_DEPTH_DILATION],
            )
            line_start = ((first_depth + x_depth) * p[_ROWS] + x_row) * line_size + plane
            inside = (
                1
                if x_depth >= 0 and x_depth < p[_DEPTH] and x_row >= 0 and x_row < p[_ROWS]
                else 0
            )
            out, x_column, positions = ptr32(band + 4 * row), corner_column, p[_POSITIONS]
            if bands < p[_OUT_ROWS] and kernel_row + ahead < p[_KERNEL_ROWS]:
                x = ptr32(4 * ahead - p[_OUT_ROW_STRIDE] * step + int(out))
                for n in range(positions * kernel_columns, 0, -1):
                    out[0] = x[0]
                    out, x = ptr32(step + int(out)), ptr32(step + int(x))
                positions = 0
            while positions:
                lead, last = 0, kernel_columns
                if inside == 0:
                    lead = kernel_columns
                elif x_column < 0 or x_column + span >= p[_COLUMNS]:
                    lead = kernel_columns
                    if dilation:
                        lead = (dilation - 1 - x_column) // dilation if x_column < 0 else 0
                        last = (p[_COLUMNS] - 1 - x_column) // dilation + 1
                        lead = min(lead, kernel_columns)
                        last = max(min(last, kernel_columns), lead)
                for n in range(lead, 0, -1):
                    out[0] = 0
                    out = ptr32(step + int(out))
                x = ptr32(4 * x_column + lead * x_step + line_start)
                for n in range(last - lead, 0, -1):
                    w = ptr32(x[0])
                    if int(w):
                        e = exponent - ((int(w) >> 23) & 255)
                        v = (int(w) & 0x7FFFFF) | half
                        if is_small and e == exponent:
                            v -= half
                            e -= 1
                        if e >> 5:
                            v = 0
                        else:
                            v = ((v >> e) + 1) >> 1
                            if not e:
                                v -= v >> 23
                        if int(w) >> 31:
                            v = 0 - v
                        w = ptr32(v)
                    out[0] = int(w)
                    out, x = ptr32(step + int(out)), ptr32(x_step + int(x))
                for n in range(kernel_columns - last, 0, -1):
                    out[0] = 0
                    out = ptr32(step + int(out))
                x_column += p[_COLUMN_STRIDE]
                positions -= 1
            row += 1
            kernel_row += 1
            if kernel_row == p[_KERNEL_ROWS]:
                kernel_row = 0
                kernel_depth += 1
                if kernel_depth == p[_KERNEL_DEPTH]:
                    kernel_depth = 0
                    first_depth += p[_DEPTH]
        band += p[_OUT_ROW_STRIDE] * step
        corner_row += p[_ROW_STRIDE]
