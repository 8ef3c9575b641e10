"""qmeans: mean of each window of quantized integers, rounded as onnxruntime does in float32.

    out[b, c, y, x] = saturate(round(mean / y_scale) + zy)
    mean = (sum of (elements inside x - zx) * x_scale) / count

If both scales are similar, means of 2, 4 or 6 elements are often ties, which the last bits of
float32 and so the order of its sums decide. Such means are computed with products, sums and
quotients rounded as float32, on the bits of floats; all others in integers. Serves
mpconnxr:QLinearAveragePool and com.microsoft's.

    x    uint8 or int8 (planes, H, W);  out  same dtype (planes, oh, ow)
    x_scale, y_scale  float32, one element, 2**-60 to 2**60; or, for y_scale, levels: int32, 255,
                      the floats at which the integer of the mean changes, as in loops/levels
    scratch  int32, 192
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..blocks import block
from .dequantize import scale_word
from .qaverage_pool import flip_of, windows

# params
_POOL = const(0)  # [qaverage_pool]
_COUNT = const(13)  # 0: the elements inside x
_ORDER = const(14)  # order of the sums (see loops/means)
_BELOW = const(15)  # number of negative levels
_RATIO = const(16)  # [numerator, denominator] of x_scale / y_scale, below 65 each; 0, 1 if there
#     is no such fraction
_N_PARAMS = const(18)

CALLS = True

LISTED = 192  # words
_LEVELS = 255
_MOST_ELEMENTS = 4096  # of a window
_ONE = 127 << 23  # bits of float32
_EXTREME = 60 << 23  # scales are from 2**-60 to 2**60
_MANTISSA = (1 << 23) - 1


def prepare(node, calls):
    node.expect(3, 1, _N_PARAMS, 1)
    node.expect_dtype("int32", *node.scratch)
    e, scratch, levels = windows(node), node.scratch[0], node.inputs[2]
    planes, rows, columns, kernel_rows, kernel_columns, out_rows, out_columns = e[:7]
    row_stride, column_stride, row_padding, column_padding, x_zero_point, out_zero_point = e[7:]
    count, order, below, up, down = node.extents(_COUNT, _N_PARAMS - _COUNT)
    node.require(0 < down < 65 and up < 65 and order < 3, "ratio of scales, or order")
    most = min(rows, kernel_rows) * min(columns, kernel_columns)
    node.require(most <= _MOST_ELEMENTS >= count, "windows")
    node.require(scratch.nelem == LISTED and below <= _LEVELS, "scratch or levels")
    x_scale = scale_of(node, node.inputs[1])
    y_scale = [0, 0] if levels.dtype == "int32" else scale_of(node, levels)
    if node.outputs[0].nelem == 0:
        return
    flip = flip_of(node)  # also out's least byte
    needs = needs_of(calls, node, scratch, "B", forms.get("means").choose)
    if levels.dtype == "int32":  # thresholds of the means instead of a scale
        node.require(levels.nelem == _LEVELS, "levels")
        needs[4], needs[10] = forms.get("mean_bytes").bytes_of, calls.place(levels, "i")
    loop = forms.get("means").rounds
    for plane, plane_end in calls.parts(planes, out_rows * out_columns):
        p = block(
            "means",
            x_start=plane * rows * columns,
            out_start=plane * out_rows * out_columns,
            planes=plane_end - plane,
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
            divisor=count,
            order=order,
            x_zero_point=x_zero_point,
            flip=flip,
            negative_levels=below,
            out_least=flip,
            ratio_numerator=up,
            ratio_denominator=down,
            window=0,
            listed=0,
            x_scale_high=x_scale[0] >> 12,
            x_scale_low=x_scale[0] & 4095,
            x_scale_exponent=x_scale[1],
            out_scale=y_scale[0],
            out_scale_exponent=y_scale[1],
            out_zero_point=out_zero_point,
            bytes_per_element=1,
            high=255,
        )
        calls.drive(loop, p, needs)


def scale_of(node, t):
    """Return [mantissa, exponent] of a float32."""
    word = scale_word(node, t)[0]
    node.require(abs(word - _ONE) <= _EXTREME, "scale")
    return [word & _MANTISSA | 1 << 23, word >> 23]


def needs_of(calls, node, scratch, code, choose):
    """Return what rounds of loops/means takes.

    `choose` is the loop that takes x and out as views of struct code `code`.
    """
    loops, w, place = forms.get("means"), calls.place(scratch, "i"), calls.place
    x, out = node.inputs[0], node.outputs[0]
    needs = [choose, loops.spans, loops.sums, loops.means, forms.get("mean_bytes").rounded]
    needs += [calls.part(), w, place(x, code), place(out, code)]
    needs += [place(x, "B"), w, place(out, "B")]
    return needs
