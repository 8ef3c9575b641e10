"""wide_max_pool: largest 16-bit integer of each window, over up to two spatial dims.

Serves mpconnxr:WideMaxPool.

    x    int16 or uint16 (planes, H, W);  out  same dtype (planes, oh, ow)
A window that lies in the padding gives the least value. Raises ModelError.
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
_DILATIONS = const(9)  # [y, x]
_PADS = const(11)  # [y, x] signed
_N_PARAMS = const(13)

CALLS = True

_FLIPS = {"int16": 32768, "uint16": 0}
_MOST_TAPS = 4096  # taps, unless the plane has more elements: bounds the work of a damaged file


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x, 0)
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in _FLIPS, "dtype " + x.dtype)
    e, pads = node.extents(0, _PADS), node.signed(_PADS, 2)
    planes, rows, columns, kernel_rows, kernel_columns, out_rows, out_columns = e[:_STRIDES]
    node.require(planes * rows * columns == x.nelem, "sizes")
    node.require(planes * out_rows * out_columns == out.nelem, "sizes")
    taps = kernel_rows * kernel_columns
    node.require(0 < taps <= max(_MOST_TAPS, rows * columns), "kernel")
    node.require(min(e[_DILATIONS:_PADS]) > 0, "kernel")
    for i in range(2):
        far = e[_OH + i] * e[_STRIDES + i] + e[_KH + i] * e[_DILATIONS + i] + abs(pads[i])
        node.require(far < BIAS, "strides, dilations or pads")
    if out.nelem == 0:
        return
    flip = _FLIPS[x.dtype]
    x, out = calls.place(x, "H"), calls.place(out, "H")
    p = block(
        "wide.wide_max",
        max_planes=planes,
        max_rows=rows,
        max_columns=columns,
        max_kernel_rows=kernel_rows,
        max_kernel_columns=kernel_columns,
        max_out_rows=out_rows,
        max_out_columns=out_columns,
        max_row_stride=e[_STRIDES],
        max_column_stride=e[_STRIDES + 1],
        max_row_dilation=e[_DILATIONS],
        max_column_dilation=e[_DILATIONS + 1],
        max_flip=flip,
        max_row_padding=pads[0],
        max_column_padding=pads[1],
    )
    calls.call(forms.get("wide").wide_max, x, None, out, p)
