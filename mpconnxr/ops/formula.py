"""formula: a function of float32 without a table, on its bits.

Serves Log, and Sigmoid and Tanh of so few numbers that a table for curve is not worth it (all
opsets); with them post transforms of ai.onnx.ml.

    x, out  float32, same size; may be the same memory
    params  0 sigmoid, 1 tanh (see loops_gates), 2 log (see loops_log)
Within 5e-7 of the exact value. Raises ModelError. A step allocates nothing where viper is.
"""

from .. import forms
from ..node import block

_LOG = 2


def prepare(node):
    node.expect(1, 1, 1)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype("float32", x, out)
    node.require(x.nelem == out.nelem, "sizes differ")
    op = node.params[0]
    node.require(0 <= op <= _LOG, "function")
    step = _Formula(x.view("i"), out.view("i"))
    if op == _LOG:
        step.loop = forms.get("loops_log").log32
        return x.nelem, step.between
    step.loop = forms.get("loops_gates").gate32
    step.p[3] = op
    return x.nelem, step.from_first


class _Formula:
    def __init__(self, x, out):
        self.x, self.out = x, out
        self.p = block(0, 0, 0, 0)

    def between(self, lo, hi):
        self.p[0], self.p[1] = lo, hi
        self.loop(self.x, self.x, self.out, self.p)

    def from_first(self, lo, hi):
        p = self.p
        p[0] = p[2] = lo
        p[1] = hi - lo
        self.loop(self.x, self.x, self.out, p)
