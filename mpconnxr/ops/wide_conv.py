"""wide_conv: convolution of 16-bit integers by 8-bit weights, grouped, exact, up to 2-D.

    sum[b, g, m, y, x] = c[g, m] + sum over k = (i, ky, kx) of
        x[b, g, i, y*sy - py + ky*dy, x*sx - px + kx*dx] * w[g, m, k]
    out = clip(round(sum * scale[g, m]) + zy, low, high)          rounded half to even

(x is its zero point outside of itself.) Serves mpconnxr:WideConv, WideGemm, WideAveragePool,
WideGlobalAveragePool and WideClip: rows of a matrix are positions, a mean has equal weights, a
change of scale has a single weight.

    x    int16 or uint16, element (b, g, i, y, x) by strides
    w    uint8: 12 bytes for each of G * M channels, then the rows of each group (see
         loops/wide_dots)
    out  int16 or uint16, position i = y * ow + x of (b, g, m) at b*on + g*og + m*om + i*op
    scratch  uint16: positions per call times 2 + K
K is at most 16,384. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..build.calls import last
from ..parameters import BIAS
from ..tensor import range_of

# params
_N = const(0)
_G = const(1)
_C = const(2)
_H = const(3)
_W = const(4)
_M = const(5)
_KH = const(6)
_KW = const(7)
_OH = const(8)
_OW = const(9)
_STRIDES = const(10)  # [y, x]
_DILATIONS = const(12)  # [y, x]
_X_STRIDES = const(14)  # [b, g, c, y, x] in elements
_OUT_STRIDES = const(19)  # [b, g, m, i] in elements; i: position
_PIECE = const(23)  # positions per call
_ZX = const(24)  # unsigned: int16 + 32768
_PADS = const(25)  # [y, x] signed
_ZY = const(27)  # signed
_LOW = const(28)  # signed
_HIGH = const(29)  # signed
_N_PARAMS = const(30)

CALLS = True
STREAMS = (1,)
_MAX_K = 16384  # the sum of a record stays below 2**30
_RECORD = 12  # bytes of a channel before the weights
_FLIPS = {"int16": 32768, "uint16": 0}


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w = node.inputs
    out, scratch = node.outputs[0], node.scratch[0]
    node.require(x.dtype in _FLIPS and out.dtype in _FLIPS, "dtype")
    node.expect_dtype("uint8", w)
    node.expect_dtype("uint16", scratch)
    e, signed = node.extents(0, _PADS), node.signed(_PADS, _N_PARAMS - _PADS)
    if out.nelem == 0 or min(e[_N], e[_G], e[_M], e[_OH], e[_OW]) == 0:
        return
    low, high = range_of(out.dtype)
    _, _, zero, least, most = signed
    node.require(low <= least <= most <= high and low <= zero <= high, "limits")
    _check_sizes(node, e, signed)
    call = _call(node, calls, e, signed)
    for batch in calls.repeat(e[_N]):
        for group in calls.repeat(e[_G]):
            for first, n in calls.pieces(e[_OH] * e[_OW], e[_PIECE]):
                call(batch, group, first, n)


def _check_sizes(node, e, signed):
    """Check that the loops stay within the tensors. The tensors' sizes also bound the work."""
    x, w, out, scratch = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    n, g, c, h, width, m, kh, kw, oh, ow = e[:10]
    k = c * kh * kw
    node.require(0 < k <= _MAX_K and e[_ZX] < 65536 and min(h, width) > 0, "K or zero point")
    node.require(
        last((n, g, c, h, width), e[_X_STRIDES:_OUT_STRIDES]) < x.nelem, "reads beyond the input"
    )
    node.require(
        last((n, g, m, oh * ow), e[_OUT_STRIDES:_PIECE]) < out.nelem, "writes beyond the output"
    )
    node.require(n * g * m * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(g * m * (_RECORD + k) <= w.nelem, "weights are too small")
    node.require(0 < e[_PIECE] and e[_PIECE] * (2 + k) <= scratch.nelem, "scratch is too small")
    for i in range(2):
        far = e[_OH + i] * e[_STRIDES + i] + e[_KH + i] * e[_DILATIONS + i] + abs(signed[i])
        node.require(far < BIAS, "strides, dilations or pads")
        node.require(far * e[_X_STRIDES + 3 + i] < BIAS, "strides of the input")
    node.require(c * e[_X_STRIDES + 2] < BIAS, "strides of the input")


def _call(node, calls, e, signed):
    """Return a function that emits the calls for n positions."""
    groups, channels, rows, columns, maps, kernel_rows, kernel_columns = e[_G:_OH]
    out_rows, out_columns, row_stride, column_stride, row_dilation, column_dilation = e[
        _OH:_X_STRIDES
    ]
    x_batch, x_group, x_channel, x_row, x_column = e[_X_STRIDES:_OUT_STRIDES]
    out_batch, out_group, out_channel, out_position = e[_OUT_STRIDES:_PIECE]
    row_padding, column_padding, out_zero_point, low, high = signed
    k = channels * kernel_rows * kernel_columns
    flip = _FLIPS[node.inputs[0].dtype]
    x, w = calls.place(node.inputs[0], "H"), calls.place(node.inputs[1])
    out, scratch = calls.place(node.outputs[0], "H"), calls.place(node.scratch[0])
    gather, compute = forms.get("wide").wide_patches, forms.get("wide_dots").wide_dots

    def call(batch, group, first, n):
        p = block(
            "wide.wide_patches",
            x_start=batch * x_batch + group * x_group,
            channels=channels,
            kernel_rows=kernel_rows,
            kernel_columns=kernel_columns,
            x_channel_stride=x_channel,
            kernel_row_step=row_dilation * x_row,
            kernel_column_step=column_dilation * x_column,
            rows=rows,
            columns=columns,
            row_dilation=row_dilation,
            column_dilation=column_dilation,
            row_stride=row_stride,
            column_stride=column_stride,
            x_row_stride=x_row,
            x_column_stride=x_column,
            out_columns=out_columns,
            row=0,
            column=first,
            flip=flip,
            padding=e[_ZX],
            positions=n,
            unused=0,
            corner_row=0 - row_padding,
            corner_column=0 - column_padding,
        )
        calls.call(gather, x, None, scratch, p)
        p = block(
            "wide_dots",
            w_start=groups * maps * _RECORD + group * (maps * k),
            table_start=group * (maps * _RECORD),
            columns=k,
            positions=n,
            channels=maps,
            out_start=batch * out_batch + group * out_group + first * out_position,
            out_position_stride=out_position,
            out_channel_stride=out_channel,
            unused=0,
            out_zero_point=out_zero_point,
            low=low,
            high=high,
        )
        calls.call(compute, scratch, w, out, p)

    return call
