"""qconv: convolution of bytes over up to two spatial dims, grouped, exact in int32.

    sum[b, g, m, y, x] = bias[g, m] + sum over k = (c, ky, kx) of
        (x[b, g, c, y*sy - py + ky*dy, x*sx - px + kx*dx] - zx) * (w[g, m, k] - zw)
    out = clip(round(sum * scale[g, m]) + zy, low, high)      bytes, rounded half to even
    out = sum                                                 int32

(x is zx outside of itself.) Serves QLinearConv, QGemm, QLinearMatMul and, with int32 outputs,
ConvInteger and MatMulInteger: a product of matrices is a convolution whose positions are rows.

    x    uint8 or int8, element (b, g, c, y, x) by strides
    w    uint8: a table of the G * M channels (see _qtable), then the rows of each group, as in
         loops/qdot
    zx   uint8 or int8, one element, if it is known only at run time (int32 outputs only)
    out  uint8, int8 or int32, position i = y * ow + x of (b, g, m) at b*on + g*og + m*om + i*op
    scratch  uint8: a patch of 4 + K bytes for each position of a call, K rounded up to a multiple
             of 4; then a byte for zx, or the unpacked table. If the scratch is large enough,
             working memory of the assembler for Cortex-M begins at the third patch, and the
             table follows it (see loops/qdot). No scratch if the loops read x in place (see
             takes_x_as_it_lies)

int8 is computed as uint8 with an offset of 128. K is at most 33,024. Raises ModelError.
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
_ZX = const(24)  # unsigned: int8 + 128
_ZW = const(25)  # unsigned: int8 + 128
_PADS = const(26)  # [y, x] signed
_ZY = const(28)  # signed
_LOW = const(29)  # signed
_HIGH = const(30)  # signed
_LACKS_SUMS = const(31)  # flag: subtract zx * (sum of w over the row) from c at run time
_TABLE = const(32)  # [_qtable]
_N_PARAMS = const(37)

CALLS = True
STREAMS = (1,)
_MAX_K = 33024  # K * 255 * 255 stays below 2**31
_BYTES = ("uint8", "int8")


def prepare(node, calls):
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect(2 + (len(node.inputs) > 2), 1, _N_PARAMS, min(len(node.scratch), 1))
    # The converter keeps out from what a later position reads: else only numbers are wrong.
    node.over(out, x, 0)
    node.require(x.dtype in _BYTES, "dtype " + x.dtype)
    node.expect_dtype("uint8", w, *node.scratch)
    e, signed = node.extents(0, _PADS), node.signed(_PADS, _LACKS_SUMS - _PADS)
    if out.nelem == 0 or min(e[_N], e[_G], e[_M], e[_OH], e[_OW]) == 0:
        return
    table = _qtable.Table(node, _TABLE, e[_G] * e[_M])
    _check_sizes(node, e, signed, table)
    node.require(not table.is_packed or node.scratch and out.dtype != "int32", "table")
    for t in [w] + node.scratch:
        t.view("i")  # raises if not aligned
    if len(node.inputs) > 2:
        zero = node.inputs[2]
        node.require(zero.dtype == x.dtype and zero.nelem == 1, "zero point of x")
        node.require(out.dtype == "int32", "a zero point that a run decides")
    if out.dtype != "int32":
        node.require(out.dtype in _BYTES, "dtype " + out.dtype)
        low, high = range_of(out.dtype)
        node.require(low <= min(signed[2:]) and max(signed[2:]) <= high, "limits")
        node.require(signed[3] <= signed[4], "limits")
    x_strides, out_strides = e[_X_STRIDES:_OUT_STRIDES], e[_OUT_STRIDES:_PIECE]
    emit_patches, emit_dots = _loops(node, calls, e, signed, table)
    for batch in calls.repeat(e[_N]):
        for group in calls.repeat(e[_G]):
            x_start = batch * x_strides[0] + group * x_strides[1]
            out_start = batch * out_strides[0] + group * out_strides[1]
            for first, n in calls.pieces(e[_OH] * e[_OW], e[_PIECE]):
                emit_patches(x_start, first, n)
                emit_dots(group, x_start, first, out_start + first * out_strides[3], n)


def takes_x_as_it_lies(counts, column_stride, x_channel_stride, pads):
    """Return True if the loops can read a uint8 x in place.

    That is so for one row of positions without padding, each K bytes, a multiple of 4.

    counts are the parameters from n to ow.
    """
    _, _, c, _, width, _, kh, kw, oh, ow = counts
    is_row = kh * kw == oh == x_channel_stride == 1 and (ow - 1) * column_stride < width
    return is_row and c & 3 == 0 and not any(pads)


def _check_sizes(node, e, signed, table):
    """Check that the loops stay within the tensors. The tensors' sizes also bound the work."""
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    n, g, c, h, width, m, kh, kw, oh, ow = e[:10]
    k = c * kh * kw
    padded = k + 3 & -4
    node.require(0 < k and padded <= _MAX_K and max(e[_ZX], e[_ZW]) < 256, "K or zero points")
    node.require(min(h, width) > 0, "an empty input")
    node.require(
        last((n, g, c, h, width), e[_X_STRIDES:_OUT_STRIDES]) < x.nelem, "reads beyond the input"
    )
    node.require(
        last((n, g, m, oh * ow), e[_OUT_STRIDES:_PIECE]) < out.nelem, "writes beyond the output"
    )
    node.require(n * g * m * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(table.nbytes + g * m * padded <= w.nelem, "weights are too small")
    node.require(0 < e[_PIECE], "positions a call")
    if node.scratch:
        nbytes = e[_PIECE] * (padded + 4) + table.unpacked_nbytes + (len(node.inputs) > 2)
        node.require(nbytes <= node.scratch[0].nelem, "scratch is too small")
    else:
        node.require(len(node.inputs) == 2, "a zero point that a run decides")
        is_row = takes_x_as_it_lies(e[:10], e[_STRIDES + 1], e[_X_STRIDES + 2], signed[:2])
        node.require(is_row and x.dtype == "uint8", "has no scratch")
    node.require(min(e[_STRIDES:_X_STRIDES]) > 0, "strides or dilations")
    for i in range(2):
        far = e[_OH + i] * e[_STRIDES + i] + e[_KH + i] * e[_DILATIONS + i] + abs(signed[i])
        node.require(far < BIAS, "strides, dilations or pads")
        node.require(far * e[_X_STRIDES + 3 + i] < BIAS, "strides of the input")
    node.require(c * e[_X_STRIDES + 2] < BIAS, "strides of the input")


def _loops(node, calls, e, signed, table):
    """Emit the initial calls; return functions that emit the calls for n positions."""
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    channels, rows, columns, maps, kernel_rows, kernel_columns = e[_C:_OH]
    out_rows, out_columns, row_stride, column_stride, row_dilation, column_dilation = e[
        _OH:_X_STRIDES
    ]
    x_channel, x_row, x_column = e[_X_STRIDES + 2 : _OUT_STRIDES]
    out_channel, out_position = e[_OUT_STRIDES + 2 : _PIECE]
    padding_y, padding_x, out_zero_point, low, high = signed
    k = channels * kernel_rows * kernel_columns
    length = k + 3 & -4
    column_step = column_dilation * x_column
    is_within = (out_rows - 1) * row_stride < rows and (out_columns - 1) * column_stride < columns
    if is_within and kernel_rows * kernel_columns == 1 and padding_y == padding_x == 0:
        # Treat the channels as the row, so that a single loop covers them.
        channels, kernel_columns, column_step, column_dilation = 1, channels, x_channel, 0
    flip = 128 if x.dtype == "int8" else 0
    x, weights = calls.place(x, "B"), calls.place(w)
    patch, scratch_start, zero_start, has_limits = None, 0, 0, out.dtype != "int32"
    [lacks_sums] = node.extents(_LACKS_SUMS, 1)
    node.require(table.is_packed or not lacks_sums, "sums of rows")
    if node.scratch:
        patch = calls.place(node.scratch[0])
        scratch_start, table_start = _working_memory(
            e[_PIECE], length, table, node.scratch[0].nelem
        )
        if table.is_packed:
            table.unpack(calls, weights, patch, table_start)
        if lacks_sums:
            table.add_sums(node, calls, e[_G], length, e[_ZX])
        if len(node.inputs) > 2:  # stored behind the patches
            zero_start = e[_PIECE] * (length + 4)
            p = block("row_sums.zero_point", start=zero_start, sign=flip)
            zero = calls.place(node.inputs[2], "B")
            calls.call(forms.get("row_sums").zero_point, zero, None, patch, p)
    out = calls.place(out, "B" if has_limits else None)
    patches = forms.get("patches").patches if patch else None
    if has_limits:
        dots = forms.get("qdot")
        dots = dots.qdots8_many if patch and e[_PIECE] > 1 else dots.qdots8
    else:
        dots = forms.get("qdot32").qdots32

    def emit_patches(x_start, first, n):
        if not patch:  # the loop reads x itself
            return
        p = block(
            "patches",
            x_start=x_start,
            channels=channels,
            kernel_rows=kernel_rows,
            kernel_columns=kernel_columns,
            x_channel_stride=x_channel,
            kernel_row_step=row_dilation * x_row,
            kernel_column_step=column_step,
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
            record_padding=length - k,
            corner_row=0 - padding_y,
            corner_column=0 - padding_x,
            zero_start=zero_start,
        )
        calls.call(patches, x, None, patch, p)

    def emit_dots(group, x_start, first, out_start, n):
        stride = length + 4 if patch else column_stride * x_column
        start = 4 if patch else x_start + first * stride
        if has_limits:
            p = block(
                "qdot",
                w_start=table.nbytes + group * (maps * length),
                table_start=table.start + group * (8 * maps),
                columns=length,
                positions=n,
                channels=maps,
                out_start=out_start,
                out_position_stride=out_position,
                out_channel_stride=out_channel,
                w_zero_point=e[_ZW],
                out_zero_point=out_zero_point,
                low=low,
                high=high,
                x_start=start,
                x_position_stride=stride,
                has_sums=int(patch is not None),
                is_table_in_x=int(table.is_packed),
                scratch_start=scratch_start,
            )
        else:
            p = block(
                "qdot32",
                w_start=table.nbytes + group * (maps * length),
                table_start=group * (8 * maps),
                columns=length,
                positions=n,
                channels=maps,
                out_start=out_start,
                out_position_stride=out_position,
                out_channel_stride=out_channel,
                w_zero_point=e[_ZW],
                x_zero_point=0,
                zero_start=zero_start,
                unused=(0,),
                x_start=start,
                x_position_stride=stride,
                has_sums=int(patch is not None),
            )
        calls.call(dots, patch or x, weights, out, p)

    return emit_patches, emit_dots


def _working_memory(piece, length, table, nbytes):
    """Return (start of a form's working memory or 0, start of the table) in the scratch.

    The working memory begins at the third patch, see loops/qdot.
    """
    start, n = 2 * (length + 4), piece + piece % 2
    end = start + n * (2 * length + 4) + 8 * length
    if piece > 1 and end + table.unpacked_nbytes <= nbytes:
        return start, end
    return 0, piece * (length + 4)
