"""Mean or p-norm of each window of a row. Plain form.

x holds the planes of an image, floats (planes, rows, columns); out gets a row of results. Taps
outside of the image are omitted; the divisor of a mean also counts those in the counted padding.
"""

# Parameters of average_row
_X_START = 0  # column 0 of the first plane and row inside x [elements] 0..
_KERNEL_PLANES = 1  # inside x [elements] 0..
_KERNEL_ROWS = const(2)  # inside x [elements] 0..
_KERNEL_COLUMNS = const(3)  # [elements] 0..
_KERNEL_PLANE_STEP = const(4)  # from plane to plane of the kernel in x [elements] 0..
_KERNEL_ROW_STEP = const(5)  # from row to row of the kernel in x [elements] 0..
_KERNEL_COLUMN_STEP = const(6)  # from column to column of the kernel in x [elements] 1..
_COLUMNS = const(7)  # of x [elements] 0..
_COLUMN_STRIDE = const(8)  # of windows [elements] 0..
_LEFT_PADDING = const(9)  # [elements] 0..
_COUNTED_LEFT = const(10)  # padding that counts in a mean [elements] 0..
_COUNTED_RIGHT = const(11)  # padding that counts in a mean [elements] 0..
_POWER = const(12)  # 0: a mean [exponent] 0..
_COUNT = 13  # planes * rows of the kernel in a mean's divisor [elements] 0..
_OUT_COLUMNS = const(14)  # [elements] 1..
_OUT_START = 15  # [elements] 0..


def average_row(x, w, out, p):
    """Compute a row of means or norms.

    Access:
        last = (kernel_planes - 1) * kernel_plane_step + (kernel_rows - 1) * kernel_row_step
        reads x[x_start : x_start + last + columns] if min(kernel_planes, kernel_rows) > 0
        writes out[out_start : out_start + out_columns]
    """
    step, columns, power = p[_KERNEL_COLUMN_STEP], p[_COLUMNS], p[_POWER]
    column = 0
    while column < p[_OUT_COLUMNS]:
        corner = column * p[_COLUMN_STRIDE] - p[_LEFT_PADDING]
        begin = -(corner // step) if corner < 0 else 0
        end = -((corner - columns) // step)
        if end > p[_KERNEL_COLUMNS]:
            end = p[_KERNEL_COLUMNS]
        total = 0.0
        plane = 0
        while plane < p[_KERNEL_PLANES]:
            row = 0
            while row < p[_KERNEL_ROWS]:
                i = (
                    p[_X_START]
                    + corner
                    + plane * p[_KERNEL_PLANE_STEP]
                    + row * p[_KERNEL_ROW_STEP]
                )
                stop = i + end * step
                i += begin * step
                part = 0.0
                while i < stop:
                    part += abs(x[i]) ** power if power else x[i]
                    i += step
                total += part
                row += 1
            plane += 1
        if power:
            total **= 1.0 / power
        else:
            corner += p[_COUNTED_LEFT]
            begin = -(corner // step) if corner < 0 else 0
            end = -((corner - p[_COUNTED_LEFT] - columns - p[_COUNTED_RIGHT]) // step)
            if end > p[_KERNEL_COLUMNS]:
                end = p[_KERNEL_COLUMNS]
            count = p[_COUNT] * (end - begin)
            total = total / count if count > 0 else float("nan")
        out[p[_OUT_START] + column] = total
        column += 1
