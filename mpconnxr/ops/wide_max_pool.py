"""wide_max_pool: largest 16-bit integer of each window, over up to two spatial dims.

Serves mpconnxr:WideMaxPool.

    x    int16 or uint16 (planes, H, W);  out  same dtype (planes, oh, ow)
    params  planes, H, W, kh, kw, oh, ow, strides y, x, dilations y, x, signed: pads y, x
A window of padding only gives the least value. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block

_FLIPS = {"int16": 32768, "uint16": 0}
_MOST_TAPS = 4096  # where the plane has fewer items: a run on a damaged file must end, too


def prepare(node):
    node.expect(1, 1, 13)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x, 0)
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in _FLIPS, "dtype " + x.dtype)
    e, pads = node.extents(0, 11), node.signed(11, 2)
    planes, h, w, kh, kw, oh, ow = e[:7]
    node.require(planes * h * w == x.nelem and planes * oh * ow == out.nelem, "sizes")
    node.require(0 < kh * kw <= max(_MOST_TAPS, h * w) and min(e[9:11]) > 0, "kernel")
    for i in range(2):
        far = e[5 + i] * e[7 + i] + e[3 + i] * e[9 + i] + abs(pads[i])
        node.require(far < BIAS, "strides, dilations or pads")
    if out.nelem == 0:
        return 0, None
    step = _MaxPool(x.view("H"), out.view("H"))
    step.p = block(*e, _FLIPS[x.dtype], pads[0] + BIAS, pads[1] + BIAS)
    return 1, step.step


class _MaxPool:
    def __init__(self, x, out):
        self.x, self.out = x, out
        self.loop = forms.get("wide").wide_max

    def step(self, lo, hi):
        self.loop(self.x, self.x, self.out, self.p)
