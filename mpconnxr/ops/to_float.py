"""to_float: integers to floats by scale and offset of each channel, without float arithmetic.

    out[o, c, i] = x[o, c, i] * constants[0, c] + constants[1, c]

Serves mpconnxr:ToFloat: Cast, Mul and Add behind MatMulInteger and ConvInteger, of which a run
decides the scale.

    x      int32 (outer, channels, inner);  out  float32, as x; may be the same memory
    constants  float32 (2, channels)
    params channels, inner
Within 2**-23 of the larger of product and offset; the same bits on every board. What is too small
for a normal float32 becomes 0, what is too large infinite, also in the product. Raises ModelError.
A step allocates nothing.
"""

from .. import forms
from ..parameters import block


def prepare(node):
    node.expect(2, 1, 2)
    x, constants, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("int32", x)
    node.expect_dtype("float32", constants, out)
    channels, inner = node.extents(0, 2)
    node.require(constants.nelem == 2 * channels and x.nelem == out.nelem, "sizes differ")
    if x.nelem == 0:
        return 0, None
    node.require(channels * inner > 0 and x.nelem % (channels * inner) == 0, "channels")
    step = _ToFloat(x.view("i"), constants.view("i"), out.view("i"))
    step.p = block(0, 0, channels, inner, 0, 0, 0x7FFFFFFF)
    return x.nelem, step.step


class _ToFloat:
    def __init__(self, x, constants, out):
        self.x, self.w, self.out = x, constants, out
        self.loop = forms.get("to_float").to_float32

    def step(self, lo, hi):
        p = self.p
        p[0], p[1] = lo, hi
        p[4] = lo // p[3] % p[2]
        p[5] = p[3] - lo % p[3]
        self.loop(self.x, self.w, self.out, p)
