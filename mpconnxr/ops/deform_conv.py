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
    params  N, G, C, H, W, M, kh, kw, oh, ow, O, has_bias, strides y, x, dilations y, x, then
            signed: pads y, x
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..parameters import block


def prepare(node):
    node.require(len(node.inputs) in (3, 4), "inputs")
    node.expect(len(node.inputs), 1, 18, 1)
    node.expect_dtype("float32", *node.inputs + node.outputs + node.scratch)
    x, w, offset = node.inputs[:3]
    out, patch = node.outputs[0], node.scratch[0]
    e, pads = node.extents(0, 16), node.signed(16, 2)
    n, g, c, h, width, m, kh, kw, oh, ow, o, has_bias = e[:12]
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
    step = _DeformConv(e, pads, (x.data, offset.data, mask and mask.data))
    step.w, step.out, step.patch = w.data, out.data, patch.data
    step.dots_p = block(0, k, 0, oh * ow, has_bias, 0, m)
    return n * oh * ow, step.step


class _DeformConv:
    """The extent is output positions: batch x oh x ow."""

    def __init__(self, e, pads, views):
        _, self.groups, self.c, h, w, self.m, kh, kw, self.oh, self.ow, groups = e[:11]
        self.strides, self.pads = e[12:14], pads
        self.x, self.offset, self.mask = views
        a_group = self.groups * self.c // groups
        self.p = block(
            0, 0, self.c, h, w, kh, kw, e[14], e[15], 0, 0, 0, self.oh * self.ow, a_group
        )
        self.taps = groups * kh * kw
        self.sample = forms.get("deform").deformed_patch
        self.dots = forms.get("dot").dots_f32

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
                self.sample(self.x, self, self.patch, p)
                q[2] = (batch * self.groups + g) * self.m * plane + at
                q[5] = g * self.m * (q[1] + q[4])
                self.dots(self.patch, self.w, self.out, q)
                g += 1
            lo += 1
