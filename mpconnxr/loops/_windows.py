"""Parameters of loops over the windows of planes. The planes of x and of out are contiguous."""

# Parameters of windows
_X_START = 0  # [elements] 0..
_OUT_START = 1  # [elements] 0..
_PLANES = 2  # [planes] 0..
_ROWS = 3  # of x [elements] 0..
_COLUMNS = 4  # of x [elements] 0..
_KERNEL_ROWS = 5  # [elements] 0..
_KERNEL_COLUMNS = 6  # [elements] 0..
_ROW_STRIDE = 7  # stride of windows [elements] 0..
_COLUMN_STRIDE = 8  # stride of windows [elements] 0..
_ROW_PADDING = 9  # rows of the first window above x [elements] 0..
_COLUMN_PADDING = 10  # columns of the first window left of x [elements] 0..
_OUT_ROWS = 11  # [elements] 0..
_OUT_COLUMNS = 12  # [elements] 0..
