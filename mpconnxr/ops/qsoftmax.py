"""qsoftmax: softmax of quantized bytes along an axis.

    out[o, k, i] = saturate(round(exp(-d[k] * x_scale) / sum over j of exp(-d[j] * x_scale)
        / y_scale) + zy),     d[j] = the largest x[o, :, i] - x[o, j, i]

Serves com.microsoft's QLinearSoftmax, and Softmax between DequantizeLinear and QuantizeLinear.

    x, out  both uint8 or both int8 (outer, n, inner)
    scratch int32, 256: the exponentials of d from 0 on, which a step computes
Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_OUTER = const(0)
_N = const(1)
_INNER = const(2)
_FACTOR = const(3)  # 1 / y_scale << shift
_SHIFT = const(4)
_ZY = const(5)  # unsigned: int8 + 128
_LARGEST = const(6)  # the first exponential, 2**15 to 2**20
_POWER = const(7)  # [high, low] exp(-x_scale) as 30 fraction bits, 15 each
_N_PARAMS = const(9)

CALLS = True

_ENTRIES = 256
_LEAST, _MOST = 1 << 15, 1 << 20
_LIMIT = 1 << 30  # of sums and products


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS, 1)
    x, out, table = node.inputs[0], node.outputs[0], node.scratch[0]
    node.expect_dtype(x.dtype, out)
    node.expect_dtype("int32", table)
    node.require(x.dtype in ("uint8", "int8"), "dtype " + x.dtype)
    outer, n, inner, factor, shift, zero, largest, high, low = node.extents(0, _N_PARAMS)
    node.require(outer * n * inner == x.nelem == out.nelem, "sizes")
    if out.nelem == 0:
        return
    # A line is read before it is written; with an inner dim, lines interleave.
    node.over(out, x, 0 if inner == 1 else x.nbytes // outer)
    node.require(shift < 31 and zero < 256 and table.nelem == _ENTRIES, "shift or scratch")
    node.require(_LEAST <= largest <= _MOST and max(high, low) < 1 << 15, "exponentials")
    node.require(max(n * largest << shift, largest * factor) < _LIMIT, "factor")
    flip = 128 if x.dtype == "int8" else 0
    x, table, out = calls.place(x, "B"), calls.place(table), calls.place(out, "B")
    loops = forms.get("qsoftmax")
    p = block("qsoftmax.powers", largest=largest, factor_high=high, factor_low=low)
    calls.call(loops.powers, None, None, table, p)
    for line, line_end in calls.parts(outer * inner, n):
        p = block(
            "qsoftmax.softmax8",
            line=line,
            line_end=line_end,
            length=n,
            inner=inner,
            flip=flip,
            factor=factor,
            shift=shift,
            zero_point=zero,
        )
        calls.call(loops.softmax8, x, table, out, p)
