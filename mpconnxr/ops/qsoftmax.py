"""qsoftmax: softmax of quantized bytes along an axis.

    out[o, k, i] = limited(round(exp(-d[k] * x_scale) / sum over j of exp(-d[j] * x_scale)
        / y_scale) + zy),     d[j] = the largest x[o, :, i] - x[o, j, i]

Serves com.microsoft's QLinearSoftmax.

    x, out  both uint8 or both int8 (outer, n, inner)
    table   int32, 256: the exponentials of d from 0 on, in a unit of which the first has at most
            2**20
    params  outer, n, inner, 1 / y_scale << shift, shift, zy (unsigned: int8 + 128)
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..node import block

_ENTRIES = 256
_MOST = 1 << 20
_LIMIT = 1 << 30  # of sums and products


def prepare(node):
    node.expect(2, 1, 6)
    x, table = node.inputs
    out = node.outputs[0]
    node.expect_dtype(x.dtype, out)
    node.expect_dtype("int32", table)
    node.require(x.dtype in ("uint8", "int8"), "dtype " + x.dtype)
    outer, n, inner, factor, shift, zero = node.extents(0, 6)
    node.require(outer * n * inner == x.nelem == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    node.require(shift < 31 and zero < 256 and table.nelem == _ENTRIES, "shift or table")
    largest = max([table.data[i] for i in range(_ENTRIES)])
    node.require(0 < table.data[0] and largest <= _MOST, "table")
    node.require(min([table.data[i] for i in range(_ENTRIES)]) >= 0, "table")
    node.require(max(n * largest << shift, largest * factor) < _LIMIT, "factor")
    step = _Softmax(x.view("B"), table.data, out.view("B"))
    step.p = block(0, 0, n, inner, 128 if x.dtype == "int8" else 0, factor, shift, zero)
    return outer * inner, step.step


class _Softmax:
    """The extent is lines: outer x inner."""

    def __init__(self, x, table, out):
        self.x, self.table, self.out = x, table, out
        self.loop = forms.get("loops_qsoftmax").softmax8

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.table, self.out, self.p)
