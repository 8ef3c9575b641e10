"""conv: convolution over up to three spatial dims, by groups.

    out[b, g, m, z, y, x] = bias[g, m] + sum over c, kz, ky, kx of
        w[g, m, c, kz, ky, kx]
        * x[b, g, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx]

(zero outside x). Serves Conv (1-D to 3-D, all opsets, any group) and, one call a phase,
ConvTranspose: which is why the output is addressed by strides; in int32, wrapping around, also
ConvInteger and QLinearConv.

    x    float32 or int32 (N, G * C, D, H, W)
    w    same dtype (G, M, C * kd * kh * kw + has_bias): the bias lies behind its row
    out  same dtype, item out_first + b*so_n + (g*M + m)*so_c + z*so_z + y*so_y + x*so_x
    scratch  one patch: C * kd * kh * kw items of the same dtype
Raises ModelError. A step allocates only what arithmetic does (boxed floats, big integers).
"""

from .. import forms
from ..parameters import BIAS, block

# params
_N = const(0)
_G = const(1)
_C = const(2)
_D = const(3)
_H = const(4)
_W = const(5)
_M = const(6)
_KD = const(7)
_KH = const(8)
_KW = const(9)
_OD = const(10)
_OH = const(11)
_OW = const(12)
_HAS_BIAS = const(13)  # flag
_STRIDES = const(14)  # [z, y, x]
_DILATIONS = const(17)  # [z, y, x]
_OUT_FIRST = const(20)  # the item of out that is written first
_OUT_STRIDES = const(21)  # [b, m, z, y, x] in items
_PADS = const(26)  # [z, y, x] signed
_N_PARAMS = const(29)

STREAMS = (1,)


def prepare(node):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w, out, patch = node.inputs + node.outputs + node.scratch
    node.require(x.dtype in ("float32", "int32"), "dtype " + x.dtype)
    node.expect_dtype(x.dtype, w, out, patch)
    e = node.extents(0, _PADS)
    pads = node.signed(_PADS, 3)
    n, g, c, d, h, width, m, kd, kh, kw, od, oh, ow, has_bias = e[:_STRIDES]
    k = c * kd * kh * kw
    node.require(n * g * c * d * h * width <= x.nelem and has_bias < 2, "input size")
    node.require(g * m * (k + has_bias) == w.nelem and k <= patch.nelem, "weights or scratch size")
    counts = (n, g * m, od, oh, ow)
    last = e[_OUT_FIRST] + sum([(counts[i] - 1) * e[_OUT_STRIDES + i] for i in range(5)])
    if min(counts) == 0:
        return 0, None
    node.require(last < out.nelem, "writes beyond the output")
    node.require(n * g * m * od * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(min(kd, kh, kw) > 0, "an empty kernel")
    _check_corners(node, e, pads)
    step = _Conv(e, pads, k)
    step.bind(x, w, out, patch)
    return n * od * oh, step.step


def _check_corners(node, e, pads):
    """Patch coordinates, biased, must stay positive 31-bit numbers in the loop."""
    for i in range(3):
        far = e[_OD + i] * e[_STRIDES + i] + e[_KD + i] * e[_DILATIONS + i] + abs(pads[i])
        node.require(far < BIAS, "strides, dilations or pads")


class _Conv:
    """The extent is output rows: batch x od x oh."""

    def __init__(self, e, pads, k):
        _, self.groups, self.c, d, h, w, self.m = e[:_KD]
        self.plane = d * h * w
        self.od, self.oh, self.ow = e[_OD:_HAS_BIAS]
        self.strides, self.pads = e[_STRIDES:_DILATIONS], pads
        self.out_first, self.out_strides = e[_OUT_FIRST], e[_OUT_STRIDES:_PADS]
        self.w_group = self.m * (k + e[_HAS_BIAS])
        self.patch_p = block(
            0, self.c, d, h, w, *e[_KD:_OD] + e[_DILATIONS:_OUT_FIRST] + [0, 0, 0]
        )
        self.dots_p = block(0, k, 0, self.out_strides[1], e[_HAS_BIAS], 0, self.m)

    def bind(self, x, w, out, patch):
        self.x, self.patch_bits = x.view("i"), patch.view("i")
        self.w, self.out, self.patch = w.data, out.data, patch.data
        self.im2col = forms.get("conv").im2col32
        self.dots = forms.get("dot").dots_f32
        if x.dtype == "int32":
            self.dots = forms.get("dot").dots_int
            self.dots_p = block(*list(self.dots_p) + [32, 32])

    def step(self, lo, hi):
        p = self.patch_p
        while lo < hi:
            y = lo % self.oh
            z = lo // self.oh % self.od
            b = lo // (self.oh * self.od)
            p[11] = z * self.strides[0] - self.pads[0] + BIAS
            p[12] = y * self.strides[1] - self.pads[1] + BIAS
            at = self.out_first + b * self.out_strides[0]
            self._row(b, at + z * self.out_strides[2] + y * self.out_strides[3])
            lo += 1

    def _row(self, b, at):
        p, q = self.patch_p, self.dots_p
        x = 0
        while x < self.ow:
            p[13] = x * self.strides[2] - self.pads[2] + BIAS
            g = 0
            while g < self.groups:
                p[0] = (b * self.groups + g) * self.c * self.plane
                self.im2col(self.x, self.x, self.patch_bits, p)
                q[2] = at + g * self.m * self.out_strides[1]
                q[5] = g * self.w_group
                self.dots(self.patch, self.w, self.out, q)
                g += 1
            at += self.out_strides[4]
            x += 1
