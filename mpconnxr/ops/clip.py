"""clip: out = min(max(x, low), high), element by element; nan stays.

Serves Clip (all opsets) where the limits are known at conversion, and with it Relu6.

    x, out  float32, same size; may be the same memory
    params  bits of low, bits of high (float32)
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import block
from ._inline import Items


def prepare(node):
    node.expect(1, 1, 2)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    node.require(x.nelem == out.nelem, "sizes differ")
    bits = x.view("i")
    loop = forms.get("clip").clip32
    p = block(0, 0, node.params[0], node.params[1])
    return x.nelem, Items(loop, bits, bits, out.view("i"), p).step
