"""to_float: integers to floats by scale and offset of each channel, without float arithmetic.

    out[o, c, i] = x[o, c, i] * constants[0, c] + constants[1, c]

Serves mpconnxr:ToFloat: Cast, Mul and Add behind MatMulInteger and ConvInteger, of which a run
decides the scale.

    x      int32 (outer, channels, inner);  out  float32, as x; may be the same memory
    constants  float32 (2, channels); or scale and offset, float32, one or one a channel, and as
           scratch float32 (2, channels)
Within 2**-23 of the larger of product and offset. Without an FPU these are the same bits on every
board, and what is too small for a normal float32 becomes 0, what is too large infinite, also in
the product. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block

# params
_CHANNELS = const(0)
_INNER = const(1)
_N_PARAMS = const(2)


def prepare(node):
    apart = len(node.inputs) == 3
    node.expect(2 + apart, 1, _N_PARAMS, int(apart))
    x, out = node.inputs[0], node.outputs[0]
    constants = node.scratch[0] if apart else node.inputs[1]
    node.over(out, x)
    node.expect_dtype("int32", x)
    node.expect_dtype("float32", constants, out, *node.inputs[1:])
    channels, inner = node.extents(0, _N_PARAMS)
    node.require(constants.nelem == 2 * channels and x.nelem == out.nelem, "sizes differ")
    if x.nelem == 0:
        return 0, None
    node.require(channels * inner > 0 and x.nelem % (channels * inner) == 0, "channels")
    step = (_Apart if apart else _ToFloat)(x.view("i"), constants.view("i"), out.view("i"))
    step.p = block(0, 0, channels, inner, 0, 0, 0x7FFFFFFF)
    if apart:
        step.take(node, channels)
    return x.nelem, step.step


class _ToFloat:
    def __init__(self, x, constants, out):
        self.x, self.w, self.out = x, constants, out
        if forms.precedes("fpu_to_float", "vfp", "to_float"):
            self.loop = forms.get("fpu_to_float").to_float32
        else:
            self.loop = forms.get("to_float").to_float32

    def step(self, lo, hi):
        self._convert(lo, hi)

    def _convert(self, lo, hi):
        p = self.p
        p[0], p[1] = lo, hi
        p[4] = lo // p[3] % p[2]
        p[5] = p[3] - lo % p[3]
        self.loop(self.x, self.w, self.out, p)


class _Apart(_ToFloat):
    """The same where scale and offset are two tensors: the loop takes them side by side."""

    def take(self, node, channels):
        self.copy = forms.get("move").copy32
        self.scale, self.of_scale = _part(node, channels, 1)
        self.offset, self.of_offset = _part(node, channels, 2)

    def step(self, lo, hi):
        self._put(self.scale, self.of_scale)
        self._put(self.offset, self.of_offset)
        self._convert(lo, hi)

    def _put(self, x, p):
        self.copy(x, x, self.w, p)


def _part(node, channels, i):
    """An input, and the parameters of what copies it to where the loop takes it."""
    t = node.inputs[i]
    node.require(t.nelem in (1, channels), "scale or offset")
    steps = (BIAS, BIAS, BIAS + int(t.nelem > 1), BIAS, BIAS, BIAS + 1)
    return t.view("i"), block(0, 1, 1, channels, *steps, BIAS, BIAS + (i - 1) * channels)
