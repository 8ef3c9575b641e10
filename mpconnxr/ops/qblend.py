"""qblend: bilinear interpolation of quantized bytes, with the rounding of float32.

    out[p, y, x] = saturate(round(v / y_scale) + zy),     v = ((a * A + b * B) + c * C) + d * D

A and B are elements of one row of x, C and D of another, as floats: (element - zx) * x_scale. a to
d are products of a weight of row y and a weight of column x. All products and sums round as
float32, so that ties go where onnxruntime puts them. Serves mpconnxr:QLinearResize.

    x    uint8 or int8 (planes, H, W);  out  uint8 or int8 (planes, oh, ow)
    x_scale, y_scale  float32, one element, 2**-60 to 2**60
    scratch  int32, 192 + 8 * ow
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..blocks import block
from ..loops.blend import _ROW, _ROW_END, _TAPS
from ..parameters import BIAS, block_of
from .qmeans import LISTED, scale_of

# params
_PLANES = const(0)
_H = const(1)
_W = const(2)
_OH = const(3)
_OW = const(4)
_ZX = const(5)  # unsigned: int8 + 128
_ZY = const(6)  # unsigned: int8 + 128
_POINT = const(7)  # fraction bits of an integer sum; 0: floats only
_RATIO = const(8)  # [upper, lower] 12 bits of x_scale / y_scale
_SHIFT = const(10)  # shift of a weight beyond its exponent
_ROW_TAPS = const(11)  # [4 * oh] for each row of out two offsets of rows in a plane of x
#     and two weights from 0 to 1: the bits of float32 less those of 2**-63, or 0
# then column_taps: [4 * ow] the same for each column

CALLS = True

_ONE = 127 << 23  # bits of float32
_LEAST_WEIGHT = 64 << 23


def prepare(node, calls):
    node.require(len(node.params) >= _ROW_TAPS, "params")
    planes, h, w, oh, ow, x_zero, y_zero, point, high, low, shift = node.extents(0, _ROW_TAPS)
    node.require(max(oh, ow) < BIAS >> 4 and max(x_zero, y_zero) < 256, "extents or zero points")
    node.require(point < 29 and max(high, low) < 4096 and shift > 126, "ratio of scales")
    node.expect(3, 1, _ROW_TAPS + 4 * (oh + ow), 1)
    x, out, scratch = node.inputs[0], node.outputs[0], node.scratch[0]
    node.require(x.dtype in ("uint8", "int8") and out.dtype in ("uint8", "int8"), "dtypes")
    node.require(planes * h * w == x.nelem and planes * oh * ow == out.nelem, "sizes")
    node.expect_dtype("int32", scratch)
    node.require(scratch.nelem == LISTED + 8 * ow, "scratch")
    (x_scale, exponent), y_scale = [scale_of(node, t) for t in node.inputs[1:]]
    if out.nelem == 0:
        return
    columns = _table(node, _ROW_TAPS + 4 * oh, ow, w - 1)
    least = 128 if out.dtype == "int8" else 0
    columns += _rounded(planes, oh, ow, least, y_scale, y_zero)
    loops = forms.get("blend")
    needs = [
        loops.corners,
        loops.estimate,
        loops.blend,
        forms.get("mean_bytes").rounded,
        calls.part(),
        calls.part(4 * ow + _TAPS),
        calls.constants("i", _table(node, _ROW_TAPS, oh, (h - 1) * w)),
        calls.place(x, "B"),
        calls.place(scratch, "i"),
        calls.place(out, "B"),
    ]
    of_all = block(
        "blend",
        upper_start=0,
        lower_start=0,
        out_start=0,
        next_element=0,
        listed=0,
        row=0,
        row_end=oh,
        columns=ow,
        x_plane_stride=h * w,
        out_plane_stride=oh * ow,
        planes=planes,
        x_zero_point=x_zero,
        flip=128 if x.dtype == "int8" else 0,
        out_zero_point=y_zero,
        out_least=least,
        point=point,
        ratio_high=high,
        ratio_low=low,
        ratio_shift=shift,
        x_scale_high=x_scale >> 12,
        x_scale_low=x_scale & 4095,
        x_scale_exponent=exponent,
        taps=columns,
    )
    for row, row_end in calls.parts(oh, 4 * planes * ow):
        p = block_of(of_all)
        p[_ROW], p[_ROW_END] = row, row_end
        calls.drive(loops.rows, p, needs, (_ROW,))


def _rounded(planes, rows, columns, flip, scale, zero_point):
    """Return the block of loops/mean_bytes; scale is (mantissa, exponent)."""
    return block(
        "means",
        x_start=0,
        out_start=0,
        planes=planes,
        rows=0,
        columns=0,
        kernel_rows=0,
        kernel_columns=0,
        row_stride=0,
        column_stride=0,
        row_padding=0,
        column_padding=0,
        out_rows=rows,
        out_columns=columns,
        divisor=0,
        order=0,
        x_zero_point=0,
        flip=flip,
        negative_levels=0,
        out_least=0,
        ratio_numerator=0,
        ratio_denominator=0,
        window=0,
        listed=0,
        x_scale_high=0,
        x_scale_low=0,
        x_scale_exponent=0,
        out_scale=scale[0],
        out_scale_exponent=scale[1],
        out_zero_point=zero_point,
        bytes_per_element=1,
        high=255,
    )


def _table(node, first, n, last):
    """Return the words of rows or columns, after a check that their indices are in 0 .. last."""
    words = node.extents(first, 4 * n)
    for i in range(0, 4 * n, 4):
        node.require(max(words[i], words[i + 1]) <= last, "a place outside of the input")
        for k in (i + 2, i + 3):
            if words[k]:
                words[k] += _LEAST_WEIGHT
            node.require(words[k] <= _ONE, "weights")
    return words
