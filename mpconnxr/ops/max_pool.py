"""max_pool: largest value of each window, over up to three spatial dims, and where it is.

    out[b, c, z, y, x] = max over kz, ky, kx of
        x[b, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx]      (inside x only)
    index[b, c, z, y, x] = (b, c) * D * H * W + z' * iz + y' * iy + x' * ix
        of the first such item z', y', x'

Serves MaxPool (all opsets, storage_order by the strides iz, iy, ix).

    x    float32, int8 or uint8 (planes, D, H, W);  out  same dtype (planes, od, oh, ow)
    index  int64, as out; may be left out
A window of padding only gives the dtype's least value and the index of its plane's first item.
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block

# params
_PLANES = const(0)
_D = const(1)
_H = const(2)
_W = const(3)
_KD = const(4)
_KH = const(5)
_KW = const(6)
_OD = const(7)
_OH = const(8)
_OW = const(9)
_STRIDES = const(10)  # [z, y, x]
_DILATIONS = const(13)  # [z, y, x]
_INDEX_STRIDES = const(16)  # [z, y, x] of what is written as the index
_PADS = const(19)  # [z, y, x] signed
_N_PARAMS = const(22)

_MINUS_INF = -8388608  # bits of float32
_LEAST = {"float32": _MINUS_INF, "int8": 128, "uint8": 0}
_MOST_TAPS = 4096  # where the plane has fewer items: a run on a damaged file must end, too


def prepare(node):
    node.expect(1, 2 if len(node.outputs) == 2 else 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x, 0)
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in _LEAST, "dtype " + x.dtype)
    e, pads = node.extents(0, _PADS), node.signed(_PADS, 3)
    planes, d, h, w = e[:_KD]
    node.require(planes * d * h * w == x.nelem, "input size")
    node.require(planes * e[_OD] * e[_OH] * e[_OW] == out.nelem, "output size")
    for i in range(3):
        far = e[_OD + i] * e[_STRIDES + i] + e[_KD + i] * e[_DILATIONS + i] + abs(pads[i])
        node.require(
            far < BIAS and e[_D + i] * e[_INDEX_STRIDES + i] < BIAS, "strides, dilations or pads"
        )
    if out.nelem == 0:
        return 0, None
    taps = e[_KD] * e[_KH] * e[_KW]
    node.require(min(e[_KD:_OD] + e[_DILATIONS:_INDEX_STRIDES]) > 0, "kernel or dilations")
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
    return planes * e[_OD] * e[_OH], step.step


def _is_planar(e):
    """Two spatial dims without dilations: what loops/maxima computes a plane a call."""
    return e[_D] == e[_KD] == e[_OD] == 1 and max(e[_DILATIONS:_INDEX_STRIDES]) == 1


class _Maxima:
    """The extent is planes."""

    def __init__(self, e, pads, flip):
        self.x_plane, self.out_plane = e[_H] * e[_W], e[_OH] * e[_OW]
        p = [0, 0, 0] + e[_H:_KD] + e[_KH:_OD] + e[_STRIDES + 1 : _DILATIONS]
        p += [v + BIAS for v in pads[1:]]
        self.p = block(*p + e[_OH:_STRIDES] + [flip])

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
        _, d, h, w = e[:_KD]
        self.plane = d * h * w
        self.od, self.oh, self.ow = e[_OD:_STRIDES]
        self.sz, self.sy = e[_STRIDES : _STRIDES + 2]
        self.pz, self.py = pads[:2]
        p = [0, d, h, w] + e[_KD:_OD] + e[_DILATIONS:_INDEX_STRIDES]
        p += [0, 0, pads[2] + BIAS, e[_STRIDES + 2], least, 0, self.ow, 0]
        self.p = block(*p + e[_INDEX_STRIDES:_PADS] + [0])
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
