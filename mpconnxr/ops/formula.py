"""formula: a function of float32 without a table, on its bits.

Serves Log, Sin and Cos, and Sigmoid and Tanh of so few numbers that a table for curve is not worth
it (all opsets); with them post transforms of ai.onnx.ml.

    x, out  float32, same size; may be the same memory
Within 5e-7 of the exact value. Raises ModelError. A step allocates nothing where viper is.
"""

from array import array

from .. import forms
from ..parameters import block

# params
_OP = const(0)  # 0 sigmoid, 1 tanh (see loops/gates), 2 log (see loops/log), 3 sine, 4 cosine (see
#     loops/sine)
_N_PARAMS = const(1)

_LOG, _SINE, _COSINE = 2, 3, 4
_TWO_BY_PI = (  # 15 bits each, behind 30 bits of 0
    0, 0, 20860, 24795, 18888, 16722, 20449, 7519,
    9194, 13533, 24685, 22693, 13095, 17465, 527,
)  # fmt: skip
_SERIES = (  # 1 / 10! to 1 / 0!, 1 / 11! to 1 / 1!, of 30 bits behind the point
    296, 26631, 1491308, 44739243, 1 << 29, 1 << 30,
    27, 2959, 213044, 8947849, 178956971, 1 << 30,
)  # fmt: skip


def prepare(node):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    node.require(x.nelem == out.nelem, "sizes differ")
    op = node.params[_OP]
    node.require(0 <= op <= _COSINE, "function")
    step = _Formula(x.view("i"), out.view("i"))
    if op >= _SINE:
        step.w = array("i", _TWO_BY_PI + _SERIES)
        step.p[2] = op - _SINE
        step.loop = forms.get("sine").sine32
        return x.nelem, step.between
    if op == _LOG:
        step.loop = forms.get("log").log32
        return x.nelem, step.between
    step.loop = forms.get("gates").gate32
    step.p[3] = op
    return x.nelem, step.from_first


class _Formula:
    def __init__(self, x, out):
        self.x, self.w, self.out = x, x, out
        self.p = block(*[0] * 9)

    def between(self, lo, hi):
        self.p[0], self.p[1] = lo, hi
        self.loop(self.x, self.w, self.out, self.p)

    def from_first(self, lo, hi):
        p = self.p
        p[0] = p[2] = lo
        p[1] = hi - lo
        self.loop(self.x, self.w, self.out, p)
