"""curve: a function of float32 by piecewise polynomials on its bits.

See loops/curve for the formulas. Serves the functions that tools/converter/ops/_curves.py has a
table for: Sigmoid, Tanh, Erf, Exp, Gelu, Swish, Softplus, Mish, Sinh, Cosh, Atan, Elu and its
relatives; with other steps Asin and Acos.

    x, out  float32, same size; may share memory
    table   int32, segments of 7 words
Within 1e-6 of the exact value; denormal results are within half a unit in the last place. NaN
gives 0x7FC00000. Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_POWERS = const(0)  # segment of 2**t; read if any segment has an exponent
_POSITIVE = const(1)  # [low, high, end, first, slope, point, flags, limit] any; of x >= 0, where
#     segments reach from `low` (a power of two) to `high`; from `end` on the result is `limit`;
#     point: fraction bits of |x| for the slope; low, high, end, limit: bits of floats
_NEGATIVE = const(9)  # [low, high, end, first, slope, point, flags, limit] any; of x < 0
_N_PARAMS = const(17)

CALLS = True
STREAMS = (0, 1)
_INFINITY = 0x7F800000
_SEGMENT = 7  # words
_MOST_SEGMENTS = 1 << 10
_LOWEST, _HIGHEST = 8 << 23, 254 << 23
_BITS = 21  # bits of a mantissa within a segment
_POINT = 52
_REACH = 157  # biased exponent of 2**30, the bound of |x| as an integer


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    x, table, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    node.expect_dtype("int32", table)
    node.require(x.nelem == out.nelem, "sizes differ")
    params = list(node.params)
    node.require(min(params) >= 0, "params")
    node.require((params[_POWERS] + 4) * _SEGMENT <= table.nelem, "powers of two")
    for h in (_POSITIVE, _NEGATIVE):
        low, high, end, first, slope, point, flags, limit = params[h : h + _NEGATIVE - _POSITIVE]
        node.require(_LOWEST <= low <= high <= _HIGHEST and low & 0x7FFFFF == 0, "segments")
        last = first + 1 + ((high - low) >> _BITS)
        node.require(last < _MOST_SEGMENTS and (last + 1) * _SEGMENT <= table.nelem, "table size")
        node.require(end <= _INFINITY and limit <= _INFINITY and flags < 4, "flags or limit")
        node.require(slope < 1 << 30 and point <= _POINT, "slope")
        node.require(slope == 0 or end <= (_REACH - point) << 23, "slope")
    n, curve32 = x.nelem, forms.get("curve").curve32
    x, w, out = calls.place(x, "i"), calls.place(table, "i"), calls.place(out, "i")
    for start, end in calls.parts(n):
        p = block(
            "curve.curve32",
            start=start,
            end=end,
            powers=params[_POWERS],
            positive=params[_POSITIVE:_NEGATIVE],
            negative=params[_NEGATIVE:_N_PARAMS],
        )
        calls.call(curve32, x, w, out, p)
