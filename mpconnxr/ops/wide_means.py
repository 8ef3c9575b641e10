"""wide_means: mean of each window of 16-bit integers, rounded as onnxruntime does in float32.

    out[b, c, y, x] = saturate(round(mean / y_scale) + zy)
    mean = (sum of (elements inside x - zx) * x_scale) / count

float32 resolves 2**-9 of a step, and if the scales are similar, many means are ties. A mean near a
tie is computed as in qmeans, all others in integers. Serves mpconnxr:WideAveragePool and
WideGlobalAveragePool.

    x    uint16 or int16 (planes, H, W);  out  same dtype (planes, oh, ow)
    x_scale, y_scale  float32, one element, 2**-60 to 2**60
    scratch  int32, 192
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..blocks import block
from .qaverage_pool import windows
from .qmeans import LISTED, needs_of, scale_of

# params
_POOL = const(0)  # [qaverage_pool] with zero points of int16 + 32768
_COUNT = const(13)
_ORDER = const(14)  # order of the sums (see loops/means)
_RATIO = const(15)  # [numerator, denominator] of x_scale / y_scale, below 65 each; count times
#     the first of them is up to 8,000
_N_PARAMS = const(17)

CALLS = True

_SIGNS = {"uint16": 0, "int16": 32768}
_LAST = 65535
_MOST = 8000  # elements of a sum times its multiplier: products stay below 2**30
_DIGITS = 256  # fractions of a step that float32 resolves


def prepare(node, calls):
    node.expect(3, 1, _N_PARAMS, 1)
    node.expect_dtype("int32", *node.scratch)
    e, scratch = windows(node, _SIGNS, _LAST), node.scratch[0]
    planes, rows, columns, kernel_rows, kernel_columns, out_rows, out_columns = e[:7]
    row_stride, column_stride, row_padding, column_padding, x_zero_point, out_zero_point = e[7:]
    count, order, up, down = node.extents(_COUNT, _N_PARAMS - _COUNT)
    node.require(0 < down < 65 and 0 < up < 65 and order < 3, "ratio of scales, or order")
    most = max(min(rows, kernel_rows) * min(columns, kernel_columns), count)
    node.require(most * up <= _MOST and 0 < count, "windows")
    node.require(scratch.nelem == LISTED, "scratch")
    x_scale, y_scale = [scale_of(node, t) for t in node.inputs[1:]]
    if node.outputs[0].nelem == 0:
        return
    near = count * (most + 5) * max(up, down) // _DIGITS + 1
    needs = needs_of(calls, node, scratch, "H", forms.get("wide_means").choose_wide)
    loop = forms.get("means").rounds
    for plane, plane_end in calls.parts(planes, out_rows * out_columns):
        p = block(
            "wide_means",
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
            flip=_SIGNS[node.inputs[0].dtype],
            near=near,
            out_least=0,
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
            bytes_per_element=2,
            high=_LAST,
        )
        calls.drive(loop, p, needs)
