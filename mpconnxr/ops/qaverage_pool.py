"""qaverage_pool: mean of each window of quantized bytes, over up to two spatial dims.

    out[b, c, y, x] = saturate(round(sum over ky, kx of
        (x[b, c, y*sy - py + ky, x*sx - px + kx] - zx) * scale[count]) + zy)     (inside x only)

rounded half to even; count is the number of the window's elements inside x, at least one. Serves
com.microsoft's QLinearAveragePool and QLinearGlobalAveragePool.

    x    uint8 or int8 (planes, H, W);  out  same dtype (planes, oh, ow)
    multipliers  int32, two words as in loops/qpool: one pair for every count, or one for each
                 count from 0 on

Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..parameters import BIAS

# params
_PLANES = const(0)
_H = const(1)
_W = const(2)
_KH = const(3)
_KW = const(4)
_OH = const(5)
_OW = const(6)
_STRIDES = const(7)  # [y, x]
_PADS = const(9)  # [y, x] at the begin
_ZX = const(11)  # unsigned: int8 + 128
_ZY = const(12)  # unsigned: int8 + 128
_N_PARAMS = const(13)

CALLS = True

_MOST_ELEMENTS = 1 << 22  # elements of a window: their sum without zero points stays below 2**30


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    e = windows(node)
    planes, rows, columns, kernel_rows, kernel_columns, out_rows, out_columns = e[:_STRIDES]
    row_stride, column_stride, row_padding, column_padding, x_zero_point, out_zero_point = e[
        _STRIDES:
    ]
    if node.outputs[0].nelem == 0:
        return
    multipliers = node.inputs[1]
    node.expect_dtype("int32", multipliers)
    n = multipliers.nelem
    most = min(rows, kernel_rows) * min(columns, kernel_columns)
    node.require(n == 2 or n >= 2 * most + 2, "multipliers")
    x, out = calls.place(node.inputs[0], "B"), calls.place(node.outputs[0], "B")
    multipliers, means = calls.place(multipliers), forms.get("qpool").means8
    for first, end in calls.parts(planes, rows * columns):
        p = block(
            "qpool",
            x_start=first * (rows * columns),
            out_start=first * (out_rows * out_columns),
            planes=end - first,
            rows=rows,
            columns=columns,
            kernel_rows=kernel_rows,
            kernel_columns=kernel_columns,
            row_stride=row_stride,
            column_stride=column_stride,
            row_padding=row_padding,
            column_padding=column_padding,
            out_rows=out_rows,
            out_columns=out_columns,
            is_per_count=int(n > 2),
            x_zero_point=x_zero_point,
            out_zero_point=out_zero_point,
            flip=flip_of(node),
        )
        calls.call(means, x, multipliers, out, p)


def windows(node, dtypes=("uint8", "int8"), last=255):
    """Check these params against x and out, and return them.

    dtypes are those allowed for x; `last` is the largest zero point.
    """
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in dtypes, "dtype " + x.dtype)
    e = node.extents(0, _N_PARAMS)
    planes, h, w, kh, kw, oh, ow = e[:7]
    node.require(planes * h * w == x.nelem and planes * oh * ow == out.nelem, "sizes")
    if out.nelem:
        node.require(min(h, w) > 0, "an empty input")
        node.require(
            max(e[_ZX:_N_PARAMS]) <= last and min(h, kh) * min(w, kw) <= _MOST_ELEMENTS, "window"
        )
        for i in range(2):
            window = e[_KH + i], e[_OH + i], e[_STRIDES + i], e[_PADS + i]
            _check_windows(node, e[_H + i], *window)
    return e


def flip_of(node):
    """Return the byte that makes bytes of x unsigned by XOR: 128 for int8, 0 for uint8."""
    return 128 if node.inputs[0].dtype == "int8" else 0


def _check_windows(node, size, kernel, count, stride, pad):
    """Check that every window has an element inside of x.

    The first window must reach into x, the last must begin inside of it.
    """
    node.require(pad < kernel and kernel < BIAS, "pads")
    node.require(0 < stride and (count - 1) * stride - pad < size, "strides")
