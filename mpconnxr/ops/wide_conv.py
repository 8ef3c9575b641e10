"""wide_conv: convolution of 16-bit integers by weights of 8 bits, by groups, exact, up to 2-D.

    sum[b, g, m, y, x] = c[g, m] + sum over k = (i, ky, kx) of
        x[b, g, i, y*sy - py + ky*dy, x*sx - px + kx*dx] * w[g, m, k]
    out = limited(round(sum * scale[g, m]) + zy, lo, hi)          rounded to even

(x is its zero point outside of it.) Serves mpconnxr:WideConv, WideGemm, WideAveragePool,
WideGlobalAveragePool and WideClip: rows of a matrix are positions, means have equal weights, a
change of scale has a single one.

    x    int16 or uint16, item (b, g, i, y, x) by strides
    w    uint8: 12 bytes for each of G * M channels, then the rows of each group (see
         loops/wide_dots)
    out  int16 or uint16, position i = y * ow + x of (b, g, m) at b*on + g*og + m*om + i*op
    scratch  uint16: positions a call times 2 + K
K up to 16,384. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block
from ..tensor import range_of

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
_STRIDES = const(10)  # [y, x]
_DILATIONS = const(12)  # [y, x]
_X_STRIDES = const(14)  # [b, g, c, y, x] in items
_OUT_STRIDES = const(19)  # [b, g, m, i] in items; i: position
_PIECE = const(23)  # positions a call
_ZX = const(24)  # unsigned: int16 + 32768
_PADS = const(25)  # [y, x] signed
_ZY = const(27)  # signed
_LOW = const(28)  # signed
_HIGH = const(29)  # signed
_N_PARAMS = const(30)

STREAMS = (1,)
_MAX_K = 16384  # the sum of a record stays below 2**30
_RECORD = 12  # bytes of a channel before the weights
_FLIPS = {"int16": 32768, "uint16": 0}


def prepare(node):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w = node.inputs
    out, scratch = node.outputs[0], node.scratch[0]
    node.require(x.dtype in _FLIPS and out.dtype in _FLIPS, "dtype")
    node.expect_dtype("uint8", w)
    node.expect_dtype("uint16", scratch)
    e, signed = node.extents(0, _PADS), node.signed(_PADS, _N_PARAMS - _PADS)
    if out.nelem == 0 or min(e[_N], e[_G], e[_M], e[_OH], e[_OW]) == 0:
        return 0, None
    low, high = range_of(out.dtype)
    node.require(low <= signed[3] <= signed[4] <= high, "limits")
    _check_sizes(node, e, signed)
    step = _Conv(e, signed, _FLIPS[x.dtype])
    step.bind(x, w, out, scratch)
    return step.n, step.step


def _check_sizes(node, e, signed):
    """All that the loops read and write lies in the tensors, and is no more work than those."""
    x, w, out, scratch = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    n, g, c, h, width, m, kh, kw, oh, ow = e[:10]
    k = c * kh * kw
    node.require(0 < k <= _MAX_K and e[_ZX] < 65536 and min(h, width) > 0, "K or zero point")
    node.require(
        _last((n, g, c, h, width), e[_X_STRIDES:_OUT_STRIDES]) < x.nelem, "reads beyond the input"
    )
    node.require(
        _last((n, g, m, oh * ow), e[_OUT_STRIDES:_PIECE]) < out.nelem, "writes beyond the output"
    )
    node.require(n * g * m * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(g * m * (_RECORD + k) <= w.nelem, "weights are too small")
    node.require(0 < e[_PIECE] and e[_PIECE] * (2 + k) <= scratch.nelem, "scratch is too small")
    for i in range(2):
        far = e[_OH + i] * e[_STRIDES + i] + e[_KH + i] * e[_DILATIONS + i] + abs(signed[i])
        node.require(far < BIAS, "strides, dilations or pads")
        node.require(far * e[_X_STRIDES + 3 + i] < BIAS, "strides of the input")
    node.require(c * e[_X_STRIDES + 2] < BIAS, "strides of the input")


def _last(counts, strides):
    return sum([(counts[i] - 1) * strides[i] for i in range(len(counts))])


class _Conv:
    """The extent is calls of the loops: batch x groups x pieces of the output's positions."""

    def __init__(self, e, signed, flip):
        n, g, c, h, w, m, kh, kw, oh, ow = e[:10]
        xc, xh, xw, om, op = e[_X_STRIDES + 2 : _OUT_STRIDES] + e[_OUT_STRIDES + 2 : _PIECE]
        k = c * kh * kw
        pieces = -(-oh * ow // e[_PIECE])
        self.n = n * g * pieces
        sy, sx, dy, dx = e[_STRIDES:_X_STRIDES]
        p = [0, c, kh, kw, xc, dy * xh, dx * xw, h, w, dy, dx, sy, sx]
        p += [xh, xw, ow, 0, 0, flip, e[_ZX], 0, 0, BIAS - signed[0], BIAS - signed[1]]
        self.p = block(*p)
        self.q = block(0, 0, k, 0, m, 0, op, om, 0, *[v + BIAS for v in signed[2:]])
        places = [0, pieces, e[_PIECE], oh * ow, g]
        places += e[_X_STRIDES : _X_STRIDES + 2] + e[_OUT_STRIDES : _OUT_STRIDES + 2]
        self.places = block(*places + [_RECORD * g * m, m * k, _RECORD * m, 0])

    def bind(self, x, w, out, scratch):
        self.x, self.w, self.out = x.view("H"), w.data, out.view("H")
        self.patch = scratch.data
        self.locate = forms.get("pieces").locate
        self.patches = forms.get("wide").wide_patches
        self.dots = forms.get("wide_dots").wide_dots

    def step(self, lo, hi):
        while lo < hi:
            self.places[0] = lo
            self.locate(self.places, self.places, self.p, self.q)
            self.patches(self.x, self.x, self.patch, self.p)
            self.dots(self.patch, self.w, self.out, self.q)
            lo += 1
