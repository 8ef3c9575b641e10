"""dynamic_normalize: rows of mean 0 and variance 1, scaled, quantized by their own range.

    v[r, i] = (x[r, i] - mean[r]) / sqrt(variance[r] + epsilon) * scale[i] + bias[i]
    y, y_scale, y_zero = DynamicQuantizeLinear(v)

Serves LayerNormalization followed by DynamicQuantizeLinear.

    x        float32 (rows, n);  y  uint8, as x
    factors  int32 (n, 2): scale and bias in fixed point, see norms in loops/fixed
    y_scale  float32, one element;  y_zero  uint8, one element
    scratch  int32, as many elements as x; float32, three elements
v is within 2**-22 of its largest possible value. The elements of a row with inf or NaN, or whose
deviation is 0, count as 0. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..blocks import block
from ..loops.fixed import _NORMS_UNIT_EXPONENT
from ..loops.fixed import _POINT as _BEHIND_ENDS
from ..loops.fixed_rows import _ROW
from ._fixed import emit_levels, expect_levels

# params
_LINES = const(0)
_N = const(1)
_EPSILON = const(2)  # float
_UNIT = const(3)  # 1024 + exponent of v's unit
_POINT = const(4)  # 1024 + fraction bits of an element before scale and bias
_N_PARAMS = const(5)

CALLS = True
STREAMS = (1,)
_MOST = 0x7FFF  # elements of a row
_INFINITY = 0x7F800000


def prepare(node, calls):
    node.expect(2, 3, _N_PARAMS, 2)
    x, factors = node.inputs
    values, cells = node.scratch
    node.expect_dtype("float32", x)
    node.expect_dtype("int32", factors, values)
    rows, n = node.extents(0, _EPSILON)
    unit, point = node.extents(_UNIT, 2)
    node.require(0 <= node.params[_EPSILON] < _INFINITY, "epsilon")
    node.require(max(unit, point) < 2048, "exponents")
    node.require(rows * n == x.nelem == values.nelem, "sizes differ")
    node.require(rows == 0 or 0 < n <= _MOST and factors.nelem == 2 * n, "sizes of rows")
    expect_levels(node, values, cells)
    moments, loops = forms.get("moments"), forms.get("fixed")
    needs = [moments.centre, moments.squares, moments.inverse, loops.norms, calls.part()]
    needs += [calls.place(x, "i"), calls.place(factors), calls.place(values, "i")]
    p = block(
        "fixed_rows",
        x_start=0,
        columns=n,
        is_centred=1,
        epsilon=node.params[_EPSILON],
        exponent=0,
        mean=0,
        mean_rest=0,
        headroom=0,
        sum_high=0,
        sum_middle=0,
        sum_low=0,
        inverse=0,
        product_exponent=0,
        norms_unit_exponent=unit,
        norms_elements=x.nelem,
        norms_largest=0,
        norms_smallest=0,
        point=point,
        row=0,
        row_end=rows,
    )
    calls.drive(forms.get("fixed_rows").rows, p, needs, (_ROW,))
    p = block(
        "fixed.octets",
        x_start=0,
        x_end=0,
        mask=0x7FFFFFFF,
        infinity=0x7F800000,
        out_start=0,
        unit_exponent=unit,
        elements=x.nelem,
    )
    ends = calls.part(_NORMS_UNIT_EXPONENT, _BEHIND_ENDS)
    emit_levels(calls, node.outputs, values, cells, ends, p)
