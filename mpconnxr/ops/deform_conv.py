"""deform_conv: a convolution whose taps are moved by an input.

    out[b, g, m, y, x] = bias[g, m] + sum over c, ky, kx of
        w[g, m, c, ky, kx] * mask[b, o, ky, kx, y, x]
        * sample(x[b, g, c], y * sy - py + ky * dy + offset[b, o, ky, kx, 0, y, x],
                             x * sx - px + kx * dx + offset[b, o, ky, kx, 1, y, x])

where sample interpolates linearly, zero outside, and o is the offset group of the channel. Serves
DeformConv (all opsets) in two dims.

    x       float32 (N, G * C, H, W)
    w       float32 (G, M, C * kh * kw + has_bias): the bias lies behind its row
    offset  float32 (N, O * kh * kw * 2, oh, ow);  mask  float32 (N, O * kh * kw, oh, ow); optional
    out     float32 (N, G * M, oh, ow);  scratch  float32, one patch: C * kh * kw
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..parameters import block

# params
_N = const(0)
_G = const(1)
_C = const(2)
_H = const(3)
_W = const(4)
_M = const(5)
_KH = const(6)
_KW = const(7)
_OH = const(8)
_OW = const(9)
_OFFSET_GROUPS = const(10)
_HAS_BIAS = const(11)  # flag
_STRIDES = const(12)  # [y, x]
_DILATIONS = const(14)  # [y, x]
_PADS = const(16)  # [y, x] signed
_N_PARAMS = const(18)


def prepare(node):
    node.require(len(node.inputs) in (3, 4), "inputs")
    node.expect(len(node.inputs), 1, _N_PARAMS, 1)
    node.expect_dtype("float32", *node.inputs + node.outputs + node.scratch)
    x, w, offset = node.inputs[:3]
    out, patch = node.outputs[0], node.scratch[0]
    e, pads = node.extents(0, _PADS), node.signed(_PADS, 2)
    n, g, c, h, width, m, kh, kw, oh, ow, o, has_bias = e[:_STRIDES]
    k = c * kh * kw
    node.require(n * g * c * h * width == x.nelem and has_bias < 2, "input size")
    node.require(g * m * (k + has_bias) == w.nelem and k <= patch.nelem, "weights or scratch size")
    node.require(n * g * m * oh * ow == out.nelem, "output size")
    node.require(o > 0 and g * c % o == 0, "offset groups")
    node.require(n * o * kh * kw * 2 * oh * ow == offset.nelem, "offset size")
    mask = node.inputs[3] if len(node.inputs) == 4 else None
    node.require(mask is None or mask.nelem * 2 == offset.nelem, "mask size")
    if out.nelem == 0:
        return 0, None
    step = _DeformConv(e, pads, x.data, out.data)
    step.w, step.patch = w.data, patch.data
    step.bind(offset.data, mask and mask.data)
    step.dots_p = block(0, k, 0, oh * ow, has_bias, 0, m)
    return n * oh * ow, step.step


class _DeformConv:
    """The extent is output positions: batch x oh x ow."""

    def __init__(self, e, pads, x, out):
        _, self.groups, self.c, h, w, self.m, kh, kw, self.oh, self.ow, groups = e[:_HAS_BIAS]
        self.strides, self.pads = e[_STRIDES:_DILATIONS], pads
        self.x, self.out = x, out
        a_group = self.groups * self.c // groups
        p = [0, 0, self.c, h, w, kh, kw] + e[_DILATIONS:_PADS]
        self.p = block(*p + [0, 0, 0, self.oh * self.ow, a_group, 0])
        self.taps = groups * kh * kw
        self.sample = forms.get("deform").deformed_patch
        self.dots = forms.get("dot").dots_f32

    def bind(self, offset, mask):
        self.moved = (offset, mask or offset)
        self.p[14] = 1 if mask else 0

    def step(self, lo, hi):
        p, q = self.p, self.dots_p
        plane = p[12]
        while lo < hi:
            batch, at = lo // plane, lo % plane
            p[9] = at // self.ow * self.strides[0] - self.pads[0]
            p[10] = at % self.ow * self.strides[1] - self.pads[1]
            p[11] = batch * self.taps * plane + at
            g = 0
            while g < self.groups:
                p[0] = (batch * self.groups + g) * self.c * p[3] * p[4]
                p[1] = g * self.c
                self.sample(self.x, self.moved, self.patch, p)
                q[2] = (batch * self.groups + g) * self.m * plane + at
                q[5] = g * self.m * (q[1] + q[4])
                self.dots(self.patch, self.w, self.out, q)
                g += 1
            lo += 1
