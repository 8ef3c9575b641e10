"""Names of loops' parameters, in their order, for what reads or changes a recorded call's words.

What each one means, and its unit, is in the docstring of its family in mpconnxr/loops. Steps and
strides count the items of the tensor; what is BIASED is signed, and stored plus BIAS.
"""

from __future__ import annotations

from enum import IntEnum


class Dots(IntEnum):
    """Parameters of loops/qdot and of loops/qdot32."""

    ROWS_START = 0  # of the weights
    TABLE_START = 1
    ROW_ITEMS = 2  # K, padded
    POSITIONS = 3
    CHANNELS = 4
    OUT_START = 5
    OUT_POSITION_STRIDE = 6
    OUT_CHANNEL_STRIDE = 7


class Depthwise(IntEnum):
    """Parameters of loops/depthwise."""

    PLANES = 2
    CHANNELS_A_PLANE = 3
    OUT_ROWS = 8
    OUT_COLUMNS = 9
    OUT_START = 14
    OUT_CHANNEL_STRIDE = 15
    OUT_POSITION_STRIDE = 16


class Planes(IntEnum):
    """Parameters of loops/planes."""

    X_START = 0
    PLANES = 1
    PLANE_STRIDE = 2
    X_ROWS = 3
    ROWS = 4  # that are copied
    ROW_STRIDE = 5
    COLUMN_STRIDE = 6
    COLUMNS = 9
    FIRST_ROW = 11  # BIASED


class Patches(IntEnum):
    """Parameters of loops/patches."""

    X_START = 0
    CHANNELS = 1
    KERNEL_ROWS = 2
    KERNEL_COLUMNS = 3
    CHANNEL_STRIDE = 4
    KERNEL_ROW_STEP = 5
    KERNEL_COLUMN_STEP = 6
    X_ROWS = 7
    X_COLUMNS = 8
    ROW_DILATION = 9
    COLUMN_DILATION = 10
    WINDOW_ROW_STRIDE = 11  # in rows of x
    WINDOW_COLUMN_STRIDE = 12
    ROW_STRIDE = 13
    COLUMN_STRIDE = 14
    OUT_COLUMNS = 15
    OUT_ROW = 16  # of the first position
    OUT_COLUMN = 17
    POSITIONS = 20
    CORNER_ROW = 22  # of the patch at row 0, BIASED
    CORNER_COLUMN = 23


class Pool(IntEnum):
    """Parameters of loops/pool."""

    X_START = 0
    X_DEPTH = 1
    X_ROWS = 2
    X_COLUMNS = 3
    KERNEL_DEPTH = 4
    KERNEL_ROWS = 5
    KERNEL_COLUMNS = 6
    DEPTH_DILATION = 7
    ROW_DILATION = 8
    COLUMN_DILATION = 9
    CORNER_DEPTH = 10  # of the window, BIASED
    CORNER_ROW = 11  # BIASED
    COLUMN_PAD = 12  # BIASED
    WINDOW_COLUMN_STRIDE = 13
    FIRST_COLUMN = 15  # of the output
    END_COLUMN = 16


class Move(IntEnum):
    """Parameters of loops/move: copies in three dims, of which the first one is cut."""

    FIRST = 0
    END = 1
    ROWS = 2
    COLUMNS = 3
    X_STRIDES = 4  # three, BIASED
    OUT_STRIDES = 7  # three, BIASED
    X_START = 10  # BIASED
    OUT_START = 11  # BIASED


N_OF_MOVE = 12  # parameters
