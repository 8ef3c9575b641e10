"""relu: out = max(x, 0) element by element. Serves Relu (all opsets), float32.

    x, out   float32, same size; may be the same memory
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import block


def prepare(node):
    node.expect(1, 1, 0)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    node.require(x.nelem == out.nelem, "sizes differ")
    return x.nelem, _Relu(x.view("i"), out.view("i")).step


class _Relu:
    def __init__(self, x, out):
        self.x, self.out = x, out
        self.loop = forms.get("relu").relu32
        self.p = block(0, 0)

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.x, self.out, self.p)
