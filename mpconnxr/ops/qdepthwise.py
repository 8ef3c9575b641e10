"""qdepthwise: depthwise convolution of bytes over up to two spatial dims.

    sum[b, g, m, y, x] = c[g, m] + sum over ky, kx of
        (x[b, g, y*sy - py + ky*dy, x*sx - px + kx*dx] - zx) * (w[g, m, ky, kx] - zw)
    out = clip(round(sum * scale[g, m]) + zy, low, high)       rounded half to even

(x is zx outside of itself.) Serves QLinearConv with one channel per group.

    x    uint8 or int8, element (b, g, y, x) by strides
    w    uint8: a table of the G * M channels (see _qtable), then kh * kw weights for each
    out  uint8 or int8, position i = y * ow + x of (b, g, m) at b*on + (g*M + m)*om + i*op
    scratch  uint8: kh * kw * 4; then padded planes or parts of them: planes * rows * columns, with
             (ow - 1) * sx + (kw - 1) * dx + 1 columns and
             (output rows - 1) * sy + (kh - 1) * dy + 1 rows; at the next multiple of 4 the
             unpacked table

int8 is computed as uint8 with an offset of 128. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..build.calls import last
from ..parameters import BIAS
from ..tensor import range_of
from . import _qtable

# params
_N = const(0)
_G = const(1)
_M = const(2)
_H = const(3)
_W = const(4)
_KH = const(5)
_KW = const(6)
_OH = const(7)
_OW = const(8)
_STRIDES = const(9)  # [y, x]
_DILATIONS = const(11)  # [y, x]
_X_STRIDES = const(13)  # [b, g, y, x] in elements
_OUT_STRIDES = const(17)  # [b, m, i] in elements; i: position
_PLANES = const(20)  # planes per call
_OUT_ROWS = const(21)  # output rows per call; only those of a single plane may be fewer than all
_ZX = const(22)  # unsigned: int8 + 128
_ZW = const(23)  # unsigned: int8 + 128
_PADS = const(24)  # [y, x] signed
_ZY = const(26)  # signed
_LOW = const(27)  # signed
_HIGH = const(28)  # signed
_TABLE = const(29)  # [_qtable]
_N_PARAMS = const(34)

CALLS = True
STREAMS = (1,)
_MAX_K = 33024  # K * 255 * 255 stays below 2**31
_BYTES = ("uint8", "int8")


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w = node.inputs
    out, scratch = node.outputs[0], node.scratch[0]
    node.over(out, x, 0)
    node.require(x.dtype in _BYTES and out.dtype in _BYTES, "dtype")
    node.expect_dtype("uint8", w, scratch)
    e, signed = node.extents(0, _PADS), node.signed(_PADS, _TABLE - _PADS)
    if out.nelem == 0 or min(e[_N], e[_G], e[_M], e[_OH], e[_OW]) == 0:
        return
    least, most = range_of(out.dtype)
    node.require(least <= min(signed[2:]) and max(signed[2:]) <= most, "limits")
    node.require(signed[3] <= signed[4], "limits")
    table = _qtable.Table(node, _TABLE, e[_G] * e[_M])
    table_start = _check_sizes(node, e, signed, table)
    scratch.view("i"), w.view("i")  # raise if not aligned
    flip = 128 if x.dtype == "int8" else 0
    x, out = calls.place(x, "B"), calls.place(out, "B")
    w, scratch = calls.place(w), calls.place(scratch)
    if table.is_packed:
        table.unpack(calls, w, scratch, table_start)
    call = _call(calls, x, w, out, scratch, e, signed, table, flip)
    for batch in calls.repeat(e[_N]):
        for plane, planes in calls.pieces(e[_G], e[_PLANES]):
            for row, rows in calls.pieces(e[_OH], min(e[_OUT_ROWS], e[_OH])):
                call(batch, plane, planes, row, rows)


def covered(positions, stride, kernel, dilation):
    """Return the elements that a kernel covers at `positions` positions along one axis."""
    return (positions - 1) * stride + (kernel - 1) * dilation + 1


def scratch_nbytes(k, planes, rows, columns):
    """Return the bytes of scratch, of a kernel's taps and of the padded planes of one call."""
    return 4 * k + planes * rows * columns


def _check_sizes(node, e, signed, table):
    """Check that the loops stay within the tensors; return where the unpacked table starts.

    The tensors' sizes also bound the work.
    """
    x, w, out, scratch = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    n, g, m, h, width, kh, kw, oh, ow, sy, sx, dy, dx = e[:_X_STRIDES]
    planes, rows = e[_PLANES:_ZX]
    k = kh * kw
    node.require(0 < k <= _MAX_K and max(e[_ZX:_PADS]) < 256, "K or zero points")
    node.require(min(h, width, sy, sx, dy, dx) > 0, "input, strides or dilations")
    node.require(
        last((n, g, h, width), e[_X_STRIDES:_OUT_STRIDES]) < x.nelem, "reads beyond the input"
    )
    far = max(last((n, g * m, oh * ow), e[_OUT_STRIDES:_PLANES]) + 1, n * g * m * oh * ow)
    node.require(far <= out.nelem, "writes beyond the output")
    node.require(table.nbytes + g * m * k <= w.nelem, "weights are too small")
    for i in range(2):
        far = e[_OH + i] * e[_STRIDES + i] + e[_KH + i] * e[_DILATIONS + i] + abs(signed[i])
        node.require(far < BIAS, "strides, dilations or pads")
    node.require(0 < planes and 0 < rows and (planes == 1 or rows >= oh), "planes or rows")
    row = covered(ow, sx, kw, dx)
    used = scratch_nbytes(k, planes, covered(min(rows, oh), sy, kh, dy), row)
    at = used + 3 & -4
    used = at + table.unpacked_nbytes if table.is_packed else used
    node.require(used <= scratch.nelem, "scratch is too small")
    return at


def _call(calls, x, w, out, scratch, e, signed, table, flip):
    """Return a function that emits the calls for some rows of some planes of a batch."""
    depth_multiplier, rows, columns, kernel_rows, kernel_columns, out_rows, out_columns = e[
        _M:_STRIDES
    ]
    row_stride, column_stride, row_dilation, column_dilation = e[_STRIDES:_X_STRIDES]
    x_batch, x_plane, x_row, x_column = e[_X_STRIDES:_OUT_STRIDES]
    out_batch, out_channel, out_position = e[_OUT_STRIDES:_PLANES]
    row_padding, column_padding, out_zero_point, low, high = signed
    width = (out_columns - 1) * column_stride + (kernel_columns - 1) * column_dilation + 1
    left = min(max(column_padding, 0), width)
    skip = max(-column_padding, 0)
    inside = max(min(columns - skip, width - left), 0)
    first = 4 * kernel_rows * kernel_columns
    gather, loops = forms.get("planes").planes, forms.get("depthwise")
    loop = loops.depthwise8
    if column_dilation == 1 < kernel_columns < 9:
        is_33 = kernel_rows == kernel_columns == 3
        loop = loops.depthwise33 if is_33 else loops.depthwise_dense

    def call(batch, plane, planes, row, n):
        covered = (n - 1) * row_stride + (kernel_rows - 1) * row_dilation + 1
        p = block(
            "planes",
            x_start=batch * x_batch + plane * x_plane + (skip * x_column if inside else 0),
            planes=planes,
            x_plane_stride=x_plane,
            rows=rows,
            out_rows=covered,
            x_row_stride=x_row,
            x_column_stride=x_column,
            out_columns=width,
            left_padding=left,
            columns=inside,
            out_start=first,
            first_row=row * row_stride - row_padding,
            flip=flip,
            padding=e[_ZX],
        )
        calls.call(gather, x, None, scratch, p)
        channel = plane * depth_multiplier
        p = block(
            "depthwise",
            x_start=first,
            x_plane_stride=covered * width,
            planes=planes,
            depth_multiplier=depth_multiplier,
            kernel_rows=kernel_rows,
            kernel_columns=kernel_columns,
            kernel_row_step=row_dilation * width,
            kernel_column_step=column_dilation,
            out_rows=n,
            out_columns=out_columns,
            out_row_step=row_stride * width,
            out_column_step=column_stride,
            table_start=table.start + 8 * channel,
            w_start=table.nbytes + channel * (kernel_rows * kernel_columns),
            out_start=batch * out_batch
            + channel * out_channel
            + row * (out_columns * out_position),
            out_channel_stride=out_channel,
            out_position_stride=out_position,
            w_zero_point=e[_ZW],
            out_zero_point=out_zero_point,
            low=low,
            high=high,
            is_table_in_x=int(table.is_packed),
        )
        calls.call(loop, scratch, w, out, p)

    return call
