"""max_pool: largest value of each window, over up to three spatial dims, and where it is.

    out[b, c, z, y, x] = max over kz, ky, kx of
        x[b, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx]      (inside x only)
    index[b, c, z, y, x] = (b, c) * D * H * W + z' * iz + y' * iy + x' * ix
        of the first such item z', y', x'

Serves MaxPool (all opsets, storage_order by the strides iz, iy, ix).

    x    float32, int8 or uint8 (planes, D, H, W);  out  same dtype (planes, od, oh, ow)
    index  int64, as out; may be left out
    params  planes, D, H, W, kd, kh, kw, od, oh, ow, strides z, y, x, dilations z, y, x,
            iz, iy, ix, pads z, y, x (signed)
A window of padding only gives the dtype's least value and the index of its plane's first item.
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block

_MINUS_INF = -8388608  # bits of float32
_LEAST = {"float32": _MINUS_INF, "int8": 128, "uint8": 0}
_MOST_TAPS = 4096  # where the plane has fewer items: a run on a damaged file must end, too


def prepare(node):
    node.expect(1, 2 if len(node.outputs) == 2 else 1, 22)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x, 0)
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in _LEAST, "dtype " + x.dtype)
    e, pads = node.extents(0, 19), node.signed(19, 3)
    planes, d, h, w = e[:4]
    node.require(planes * d * h * w == x.nelem, "input size")
    node.require(planes * e[7] * e[8] * e[9] == out.nelem, "output size")
    for i in range(3):
        far = e[7 + i] * e[10 + i] + e[4 + i] * e[13 + i] + abs(pads[i])
        node.require(far < BIAS and e[1 + i] * e[16 + i] < BIAS, "strides, dilations or pads")
    if out.nelem == 0:
        return 0, None
    taps = e[4] * e[5] * e[6]
    node.require(min(e[4:7] + e[13:16]) > 0, "kernel or dilations")
    node.require(taps <= max(_MOST_TAPS, d * h * w), "kernel")
    if x.dtype != "float32" and len(node.outputs) == 1 and _is_planar(e):
        step = _Maxima(e, pads, 128 if x.dtype == "int8" else 0)
        step.bind(x, out)
        return planes, step.step
    step = _MaxPool(e, pads, _LEAST[x.dtype])
    step.bind(x, out)
    if len(node.outputs) == 2:
        index = node.outputs[1]
        node.expect_dtype("int64", index)
        node.require(index.nelem == out.nelem, "size of the indices")
        step.bind_index(x, index)
    return planes * e[7] * e[8], step.step


def _is_planar(e):
    """Two spatial dims without dilations: what loops/maxima computes a plane a call."""
    return e[1] == e[4] == e[7] == 1 and max(e[13:16]) == 1


class _Maxima:
    """The extent is planes."""

    def __init__(self, e, pads, flip):
        self.x_plane, self.out_plane = e[2] * e[3], e[8] * e[9]
        p = [0, 0, 0] + e[2:4] + e[5:7] + e[11:13] + [v + BIAS for v in pads[1:]]
        self.p = block(*p + e[8:10] + [flip])

    def bind(self, x, out):
        self.x, self.out = x.view("B"), out.view("B")
        self.loop = forms.get("maxima").maxima8

    def step(self, lo, hi):
        p = self.p
        p[0], p[1], p[2] = lo * self.x_plane, lo * self.out_plane, hi - lo
        self.loop(self.x, self.x, self.out, p)


class _MaxPool:
    """The extent is output rows: planes x od x oh."""

    def __init__(self, e, pads, least):
        _, d, h, w = e[:4]
        self.plane = d * h * w
        self.od, self.oh, self.ow = e[7:10]
        self.sz, self.sy = e[10:12]
        self.pz, self.py = pads[:2]
        p = [0, d, h, w] + e[4:7] + e[13:16] + [0, 0, pads[2] + BIAS, e[12], least, 0, self.ow, 0]
        self.p = block(*p + e[16:19] + [0])
        self.find = None

    def bind(self, x, out):
        bits = "i" if x.dtype == "float32" else "B"
        loops = forms.get("pool")
        self.x, self.out = x.view(bits), out.view(bits)
        self.loop = loops.max_row32 if bits == "i" else loops.max_row8

    def bind_index(self, x, index):
        loops = forms.get("pool")
        self.index = index.view("i")
        self.find = loops.find_row32 if x.dtype == "float32" else loops.find_row8

    def step(self, lo, hi):
        p = self.p
        while lo < hi:
            p[0] = p[21] = lo // (self.oh * self.od) * self.plane
            # few locals: a frame of more than 11 words would come from the heap
            p[10] = lo // self.oh % self.od * self.sz - self.pz + BIAS
            p[11] = lo % self.oh * self.sy - self.py + BIAS
            p[17] = lo * self.ow
            self.loop(self.x, self.x, self.out, p)
            if self.find:
                self.find(self.x, self.out, self.index, p)
            lo += 1
