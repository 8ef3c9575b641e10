"""qcolumns: pack matrices of bytes that are known only at run time as weights of kernel qconv.

    out  uint8: a table of the G * M channels, then the rows of each group, as in loops/qdot: the
         channels of a group are the columns of its matrix
    x    uint8 or int8, element (g, k, m) by strides

The bias c of a channel is zx * (K * zw - sum of the column). The first word of a channel is c << 5
| shift, the second its multiplier. For int32 outputs, which have no multiplier, they are c and K *
zw - sum. int8 is computed as uint8 with an offset of 128. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..parameters import BIAS

# params
_G = const(0)
_K = const(1)
_M = const(2)
_STRIDES = const(3)  # [g, k, m] in elements
_ZX = const(6)  # unsigned: int8 + 128
_ZW = const(7)  # unsigned: int8 + 128
_SHIFT = const(8)
_MULTIPLIER = const(9)  # [high, low] of 16 and 15 bits
_N_PARAMS = const(11)

CALLS = True

_MAX_K = 33024  # of qconv


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.require(x.dtype in ("uint8", "int8"), "dtype " + x.dtype)
    node.expect_dtype("uint8", out)
    g, k, m, xg, xk, xm, zx, zw, shift, high, low = node.extents(0, _N_PARAMS)
    if min(g, m) == 0:
        return
    node.require(0 < k <= _MAX_K and max(zx, zw) < 256 and g * m < BIAS >> 1, "sizes")
    node.require((g - 1) * xg + (k - 1) * xk + (m - 1) * xm < x.nelem, "reads beyond the input")
    node.require(g * m * (8 + (k + 3 & -4)) <= out.nelem, "writes beyond the output")
    node.require(shift < 32 and high < 1 << 16 and low < 1 << 15, "shift or multiplier")
    node.require(high or low or not shift, "a shift alone")
    up = 5 if high or low else 0
    node.require(max(255 - zw, zw) * k * zx < 1 << 31 - up, "zero points")
    flip = 128 if x.dtype == "int8" else 0
    x, out = calls.place(x, "B"), calls.place(out, "i")
    columns = forms.get("columns").columns
    for start, end in calls.parts(g, k * m):
        p = block(
            "columns",
            start=start,
            end=end,
            rows=k,
            columns=m,
            x_matrix_stride=xg,
            x_row_stride=xk,
            x_column_stride=xm,
            flip=flip,
            other_zero_point=zx,
            x_zero_point=zw,
            shift=up,
            first_word=shift,
            second_word=high << 15 | low,
            out_start=2 * g * m,
        )
        calls.call(columns, x, None, out, p)
