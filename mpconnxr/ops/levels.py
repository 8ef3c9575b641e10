"""levels: floats to 8-bit integers, by a scale or by the thresholds at which the integer changes.

    out[i] = saturate(round(x[i] / scale) + zero),     zero = first + below
    out[i] = first + number of thresholds that are not above x[i]

Serves QuantizeLinear (all opsets) of float32 to int8 or uint8 by one constant scale: exact,
including rounding and saturation, and without float arithmetic.

    x       float32
    levels  float32, the scale, 2**-100 to 2**100; or int32, up to 255 thresholds in ascending
            order of the floats, as bits without the sign: first the `below` negative ones (0 among
            them is -0), so the greatest bits come first
    out     int8 or uint8, as many elements as x; may begin where x does
Raises ModelError.
"""

from .. import forms
from ..blocks import block
from .dequantize import scale_word

# params
_BELOW = const(0)
_FIRST = const(1)  # as a byte
_NAN = const(2)  # result for NaN, as a byte
_N_PARAMS = const(3)

CALLS = True

_MOST = 255
_INFINITY = 0x7F800000  # bits of float32
_MASK = 0x7FFFFFFF


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    x, levels, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x)
    node.require(out.dtype in ("int8", "uint8"), "dtype " + out.dtype)
    node.require(x.nelem == out.nelem, "sizes differ")
    below, first, nan = node.extents(0, _N_PARAMS)
    node.require(max(below, first, nan) < 256, "a byte")
    x, out, n = calls.place(x, "i"), calls.place(out, "B"), out.nelem
    if levels.dtype == "float32":
        scale_word(node, levels)
        node.require(first in (0, 128), "first byte")
        w, nearest8 = calls.place(levels, "i"), forms.get("nearest").nearest8
        for start, end in calls.parts(n):
            p = block(
                "nearest",
                start=start,
                end=end,
                zero_point=below,
                flip=first,
                nan=nan,
                magnitude_mask=_MASK,
                infinity=_INFINITY,
            )
            calls.call(nearest8, x, w, out, p)
        return
    node.expect_dtype("int32", levels)
    node.require(below <= levels.nelem <= _MOST, "levels")
    w, levels8 = calls.place(levels, "i"), forms.get("levels").levels8
    for start, end in calls.parts(n):
        p = block(
            "levels",
            start=start,
            end=end,
            negative_levels=below,
            levels=levels.nelem,
            low=first,
            infinity=_INFINITY,
            magnitude_mask=_MASK,
            nan=nan,
        )
        calls.call(levels8, x, w, out, p)
