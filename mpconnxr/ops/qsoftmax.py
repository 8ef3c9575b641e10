"""qsoftmax: softmax of quantized bytes along an axis.

    out[o, k, i] = limited(round(exp(-d[k] * x_scale) / sum over j of exp(-d[j] * x_scale)
        / y_scale) + zy),     d[j] = the largest x[o, :, i] - x[o, j, i]

Serves QLinearSoftmax: com.microsoft's, and the one between DequantizeLinear and QuantizeLinear.

    x, out  both uint8 or both int8 (outer, n, inner)
    scratch int32, 256: the exponentials of d from 0 on, which a step makes
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import block

# params
_OUTER = const(0)
_N = const(1)
_INNER = const(2)
_FACTOR = const(3)  # 1 / y_scale << shift
_SHIFT = const(4)
_ZY = const(5)  # unsigned: int8 + 128
_LARGEST = const(6)  # the first exponential, 2**15 to 2**20
_POWER = const(7)  # [high, low] exp(-x_scale) as 15 bits and 15 more behind the point
_N_PARAMS = const(9)

_ENTRIES = 256
_LEAST, _MOST = 1 << 15, 1 << 20
_LIMIT = 1 << 30  # of sums and products


def prepare(node):
    node.expect(1, 1, _N_PARAMS, 1)
    x, out, table = node.inputs[0], node.outputs[0], node.scratch[0]
    node.expect_dtype(x.dtype, out)
    node.expect_dtype("int32", table)
    node.require(x.dtype in ("uint8", "int8"), "dtype " + x.dtype)
    outer, n, inner, factor, shift, zero, largest, high, low = node.extents(0, _N_PARAMS)
    node.require(outer * n * inner == x.nelem == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    # A line is read before it is written; lines of an inner dim lie between one another.
    node.over(out, x, 0 if inner == 1 else x.nbytes // outer)
    node.require(shift < 31 and zero < 256 and table.nelem == _ENTRIES, "shift or scratch")
    node.require(_LEAST <= largest <= _MOST and max(high, low) < 1 << 15, "exponentials")
    node.require(max(n * largest << shift, largest * factor) < _LIMIT, "factor")
    step = _Softmax(x.view("B"), table.data, out.view("B"))
    step.p = block(0, 0, n, inner, 128 if x.dtype == "int8" else 0, factor, shift, zero)
    step.first = block(largest, high, low)
    return outer * inner, step.step


class _Softmax:
    """The extent is lines: outer x inner."""

    def __init__(self, x, table, out):
        self.x, self.table, self.out = x, table, out
        loops = forms.get("qsoftmax")
        self.powers, self.loop = loops.powers, loops.softmax8

    def step(self, lo, hi):
        self.powers(self.table, self.table, self.table, self.first)
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.table, self.out, self.p)
