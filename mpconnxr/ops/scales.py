"""scales: products of float32 with a factor that a run knows, without float arithmetic.

    out[i] = x[0] * w[i]

Serves mpconnxr:Scale: scales of weights times that of a dynamic quantization.

    x    float32, one item;  w, out  float32, equally many
Rounded to even. What is too small for a normal float32 is 0, what is too large infinite. Raises
ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import block

STREAMS = (1,)


def prepare(node):
    node.expect(2, 1, 0)
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, w, out)
    node.require(x.nelem == 1 and w.nelem == out.nelem, "sizes differ")
    return (1 if w.nelem else 0), _Scales(x, w, out).step


class _Scales:
    def __init__(self, x, w, out):
        self.x, self.w, self.out = x.view("i"), w.view("i"), out.view("i")
        self.p = block(0, w.nelem, 0x7FFFFFFF)
        self.loop = forms.get("scales").scales32

    def step(self, lo, hi):
        self.loop(self.x, self.w, self.out, self.p)
