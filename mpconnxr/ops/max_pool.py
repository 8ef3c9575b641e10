"""max_pool: largest value of each window, over up to three spatial dims.

    out[b, c, z, y, x] = max over kz, ky, kx of
        x[b, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx]      (inside x only)

Serves MaxPool and GlobalMaxPool (all opsets, without Indices), float32.

    x    float32 (planes, D, H, W);  out  float32 (planes, od, oh, ow)
    params  planes, D, H, W, kd, kh, kw, od, oh, ow, strides z, y, x, dilations z, y, x,
            pads z, y, x (signed)
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..node import BIAS, block

_MINUS_INF = -8388608  # bits of float32


def prepare(node):
    node.expect(1, 1, 19)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype("float32", x, out)
    e, pads = node.extents(0, 16), node.signed(16, 3)
    planes, d, h, w = e[:4]
    node.require(planes * d * h * w == x.nelem, "input size")
    node.require(planes * e[7] * e[8] * e[9] == out.nelem, "output size")
    for i in range(3):
        far = e[7 + i] * e[10 + i] + e[4 + i] * e[13 + i] + abs(pads[i])
        node.require(far < BIAS, "strides, dilations or pads")
    if out.nelem == 0:
        return 0, None
    step = _MaxPool(e, pads)
    step.bind(x.view("i"), out.view("i"))
    return planes * e[7] * e[8], step.step


class _MaxPool:
    """The extent is output rows: planes x od x oh."""

    def __init__(self, e, pads):
        _, d, h, w = e[:4]
        self.plane = d * h * w
        self.od, self.oh, self.ow = e[7:10]
        self.sz, self.sy = e[10:12]
        self.pz, self.py = pads[:2]
        p = [0, d, h, w] + e[4:7] + e[13:16] + [0, 0, pads[2] + BIAS, e[12], _MINUS_INF, 0, self.ow, 0]
        self.p = block(*p)

    def bind(self, x, out):
        self.x, self.out = x, out
        self.loop = forms.get("loops_pool").max_row32

    def step(self, lo, hi):
        p = self.p
        while lo < hi:
            y = lo % self.oh
            z = lo // self.oh % self.od
            p[0] = lo // (self.oh * self.od) * self.plane
            p[10] = z * self.sz - self.pz + BIAS
            p[11] = y * self.sy - self.py + BIAS
            p[17] = lo * self.ow
            self.loop(self.x, self.x, self.out, p)
            lo += 1
