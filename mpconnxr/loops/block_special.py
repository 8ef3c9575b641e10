"""Block floating point with inf or NaN, in Python floats; allocates. Plain form.

loops/block_pieces and loops/block_products call these for an image or a row with inf or NaN, with
their own p and w.

rows               Compute rows row_start to row_end - 1 of a convolution.
product            Compute row row_start of a matrix product.
product_of_floats  Compute it with weights known only at run time: see loops/block_rows.
"""

from .. import forms
from ..parameters import BIAS
from ..tensor import view
from .block import _ALIGN_X_STRIDE
from .block_finish import _HIGH, _IS_HIGH_NEGATIVE, _IS_LOW_NEGATIVE, _LOW
from .block_narrow import _BITS
from .block_pieces import (
    _CHANNELS,
    _CORNER_COLUMN,
    _CORNER_ROW,
    _FINISH_OUT_CHANNEL_STRIDE,
    _GROUPS,
    _KERNEL_COLUMNS,
    _MANTISSAS_CHANNELS,
    _MANTISSAS_COLUMN_DILATION,
    _MANTISSAS_COLUMN_STRIDE,
    _MANTISSAS_COLUMNS,
    _MANTISSAS_CORNER_DEPTH,
    _MANTISSAS_DEPTH,
    _MANTISSAS_DEPTH_DILATION,
    _MANTISSAS_KERNEL_DEPTH,
    _MANTISSAS_KERNEL_ROWS,
    _MANTISSAS_ROW_DILATION,
    _MANTISSAS_ROW_STRIDE,
    _MANTISSAS_ROWS,
    _OUT_POSITION_STRIDE,
    _OUT_ROW_STRIDE,
    _OUT_START,
    _POSITIONS,
    _ROW_END,
    _ROW_START,
    _W_ROW_STRIDE,
    _WINDOW_COLUMNS,
    _WINDOW_ROWS,
    _X_GROUP_STRIDE,
    _X_START,
)
from .block_products import _CHANNELS as _PRODUCT_CHANNELS
from .block_products import (
    _COLUMNS,
    _INNER_BATCHES,
    _PEAK_X_START,
    _ROWS,
    _W_INNER_STRIDE,
    _W_OUTER_STRIDE,
    _W_ROW,
    _X_INNER_STRIDE,
    _X_OUTER_STRIDE,
)
from .block_products import _OUT_START as _PRODUCT_OUT_START
from .block_products import _ROW_START as _PRODUCT_ROW_START
from .block_products import _W_ROW_STRIDE as _PRODUCT_W_ROW_STRIDE
from .block_rows import _ROWS_HAS_BIAS, _ROWS_X_START

# in w
_ALIGN_P = const(7)
_DOTS_P = const(8)
_FINISH_P = const(9)
_X = const(10)
_WEIGHTS = const(11)
_BIASES = const(12)
_EXPONENTS = const(13)
_OUT = const(15)

# Parameters of rows: as block_pieces.pieces

# Parameters of product: as block_products.products

# Parameters of product_of_floats: as block_rows.batches

_HALF = 1 << 23
_HALF_SHORT = 1 << 14

_cell = bytearray(4)
_bits, _float = view(_cell, 0, "i", 1), view(_cell, 0, "f", 1)


def float_of(bits):
    """Return the float32 with the bits of an int32."""
    _bits[0] = bits
    return _float[0]


def bits_of(value):
    """Return the bits of a float, rounded to float32, as an int32."""
    _float[0] = value
    return _bits[0]


def product(p, w):
    """Access: of the loops in whose place it is called"""
    x, out = w[_X], w[_OUT]
    values = [float_of(x[i]) for i in range(p[_PEAK_X_START], p[_PEAK_X_START] + p[_COLUMNS])]
    low, high = _limits(w)
    batch = p[_PRODUCT_ROW_START] // p[_ROWS]
    row = (
        p[_W_ROW]
        + (
            batch // p[_INNER_BATCHES] * p[_W_OUTER_STRIDE]
            + batch % p[_INNER_BATCHES] * p[_W_INNER_STRIDE]
        )
        * p[_PRODUCT_CHANNELS]
    )
    at = p[_PRODUCT_OUT_START] + p[_PRODUCT_ROW_START] * p[_PRODUCT_CHANNELS]
    for channel in range(p[_PRODUCT_CHANNELS]):
        out[at + channel] = _limited(
            _total(w, values, row + channel, p[_PRODUCT_W_ROW_STRIDE]), low, high
        )


def product_of_floats(p, w):
    """Access: of the loops in whose place it is called"""
    x, weights, out = w[_X], w[_BIASES], w[_OUT]
    columns, has_bias = p[_COLUMNS], p[_ROWS_HAS_BIAS]
    low, high = _limits(w)
    batch = p[_PRODUCT_ROW_START] // p[_ROWS]
    row = (
        batch // p[_INNER_BATCHES] * p[_X_OUTER_STRIDE]
        + batch % p[_INNER_BATCHES] * p[_X_INNER_STRIDE]
    ) * p[_ROWS] + p[_PRODUCT_ROW_START] % p[_ROWS]
    values = [float_of(x[i]) for i in range(row * columns, row * columns + columns)]
    first, at = p[_ROWS_X_START], p[_PRODUCT_ROW_START] * p[_PRODUCT_CHANNELS]
    dots = forms.get("dot").dots_f32
    for channel in range(p[_PRODUCT_CHANNELS]):
        some = [float_of(weights[i]) for i in range(first, first + columns + has_bias)]
        dots(values, some, _float, (0, columns, 0, 1, has_bias, 0, 1))
        out[at + channel] = _limited(_float[0], low, high)
        first += columns + has_bias


def _limits(w):
    p = w[_FINISH_P]
    low = float_of(p[_LOW] - (p[_IS_LOW_NEGATIVE] << 31))
    return low, float_of(p[_HIGH] - (p[_IS_HIGH_NEGATIVE] << 31))


def _limited(total, low, high):
    return bits_of(low if total < low else high if total > high else total)


def _total(w, values, row, step):
    """Return the product of values and a row of weights; a value of None is padding."""
    unit = 2.0 ** (w[_EXPONENTS][row] - 149)
    total = float_of(w[_BIASES][row]) if w[_ALIGN_P][_ALIGN_X_STRIDE] else 0.0
    for i in range(len(values)):
        if values[i] is not None:
            total += values[i] * (_mantissa(w, row * step, i) * unit)
    return total


def _mantissa(w, first, i):
    """Return weight i of the row that starts at element `first`."""
    weights, bits = w[_WEIGHTS], w[_DOTS_P][_BITS]
    if bits == 0:
        return weights[first + i] - _HALF_SHORT
    fours = bits == 4
    held = weights[first + i // 2] >> 4 * (i & 1) & 15 if fours else weights[first + i]
    return (held << 24 - bits) - _HALF


def rows(p, w):
    """Access: of the loops in whose place it is called"""
    for group in range(p[_GROUPS]):
        for row in range(p[_ROW_START], p[_ROW_END]):
            for column in range(p[_POSITIONS]):
                _position(p, w, group, row, column)


def _position(p, w, group, row, column):
    """Write the results of a group at a position; with pooling, keep the maximum."""
    out, channels, step = w[_OUT], p[_CHANNELS], p[_FINISH_OUT_CHANNEL_STRIDE]
    values = _patch(
        p,
        w[_X],
        p[_X_START] + group * p[_X_GROUP_STRIDE],
        (
            row * p[_MANTISSAS_ROW_STRIDE] + p[_CORNER_ROW],
            column * p[_MANTISSAS_COLUMN_STRIDE] + p[_CORNER_COLUMN],
        ),
    )
    low, high = _limits(w)
    at = (
        p[_OUT_START]
        + group * channels * step
        + row // p[_WINDOW_ROWS] * p[_OUT_ROW_STRIDE]
        + column // p[_WINDOW_COLUMNS] * p[_OUT_POSITION_STRIDE]
    )
    is_first = row % p[_WINDOW_ROWS] == column % p[_WINDOW_COLUMNS] == 0
    for channel in range(group * channels, group * channels + channels):
        bits = _limited(_total(w, values, channel, p[_W_ROW_STRIDE]), low, high)
        if is_first or _order(out[at]) <= _order(bits):
            out[at] = bits
        at += step


def _order(bits):
    """Return a key in the order of the floats, from NaN with a minus to NaN, as in loops/pool."""
    return bits if bits >= 0 else -1 - (bits & 0x7FFFFFFF)


def _patch(p, x, first, corner):
    """Return the elements of a group that a position covers.

    corner is (row, column) of the position in x, each plus BIAS.
    """
    channels, depth, height, width, kernel_depth, kernel_rows = (
        p[_MANTISSAS_CHANNELS],
        p[_MANTISSAS_DEPTH],
        p[_MANTISSAS_ROWS],
        p[_MANTISSAS_COLUMNS],
        p[_MANTISSAS_KERNEL_DEPTH],
        p[_MANTISSAS_KERNEL_ROWS],
    )
    values = []
    for kernel_column in range(p[_KERNEL_COLUMNS]):
        x_column = corner[1] + kernel_column * p[_MANTISSAS_COLUMN_DILATION] - BIAS
        for i in range(channels * kernel_depth * kernel_rows):
            x_depth = (
                p[_MANTISSAS_CORNER_DEPTH]
                + i // kernel_rows % kernel_depth * p[_MANTISSAS_DEPTH_DILATION]
                - BIAS
            )
            x_row = corner[0] + i % kernel_rows * p[_MANTISSAS_ROW_DILATION] - BIAS
            inside = 0 <= x_depth < depth and 0 <= x_row < height and 0 <= x_column < width
            at = (
                first
                + ((i // (kernel_depth * kernel_rows) * depth + x_depth) * height + x_row) * width
                + x_column
            )
            values.append(float_of(x[at]) if inside else None)
    return values
