"""gate: sigmoid or tanh of float32 without a table, on its bits. See loops_gates for the formulas.

Serves Sigmoid and Tanh (all opsets) of so few numbers that a table for curve is not worth it, and
with them post transforms of ai.onnx.ml.

    x, out  float32, same size; may be the same memory
    params  1 for tanh, 0 for sigmoid
Within 5e-7 of the exact value. Raises ModelError. A step allocates nothing where viper is.
"""

from .. import forms
from ..node import block


def prepare(node):
    node.expect(1, 1, 1)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype("float32", x, out)
    node.require(x.nelem == out.nelem, "sizes differ")
    node.require(0 <= node.params[0] < 2, "function")
    return x.nelem, _Gate(x.view("i"), out.view("i"), node.params[0]).step


class _Gate:
    def __init__(self, x, out, is_tanh):
        self.x, self.out = x, out
        self.p = block(0, 0, 0, is_tanh)
        self.loop = forms.get("loops_gates").gate32

    def step(self, lo, hi):
        p = self.p
        p[0] = p[2] = lo
        p[1] = hi - lo
        self.loop(self.x, self.x, self.out, p)
