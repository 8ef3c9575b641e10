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
    params  N, G, C, H, W, M, kh, kw, oh, ow, strides y, x, dilations y, x, strides of x b, g, c,
            y, x, strides of out on, og, om, op, positions a call, zx (unsigned: int16 + 32768),
            signed: pads y, x, zy, lo, hi
K up to 16,384. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block
from ..tensor import range_of

STREAMS = (1,)
_MAX_K = 16384  # the sum of a record stays below 2**30
_RECORD = 12  # bytes of a channel before the weights
_FLIPS = {"int16": 32768, "uint16": 0}


def prepare(node):
    node.expect(2, 1, 30, 1)
    x, w = node.inputs
    out, scratch = node.outputs[0], node.scratch[0]
    node.require(x.dtype in _FLIPS and out.dtype in _FLIPS, "dtype")
    node.expect_dtype("uint8", w)
    node.expect_dtype("uint16", scratch)
    e, signed = node.extents(0, 25), node.signed(25, 5)
    if out.nelem == 0 or min(e[0], e[1], e[5], e[8], e[9]) == 0:
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
    node.require(0 < k <= _MAX_K and e[24] < 65536 and min(h, width) > 0, "K or zero point")
    node.require(_last((n, g, c, h, width), e[14:19]) < x.nelem, "reads beyond the input")
    node.require(_last((n, g, m, oh * ow), e[19:23]) < out.nelem, "writes beyond the output")
    node.require(n * g * m * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(g * m * (_RECORD + k) <= w.nelem, "weights are too small")
    node.require(0 < e[23] and e[23] * (2 + k) <= scratch.nelem, "scratch is too small")
    for i in range(2):
        far = e[8 + i] * e[10 + i] + e[6 + i] * e[12 + i] + abs(signed[i])
        node.require(far < BIAS, "strides, dilations or pads")
        node.require(far * e[17 + i] < BIAS, "strides of the input")
    node.require(c * e[16] < BIAS, "strides of the input")


def _last(counts, strides):
    return sum([(counts[i] - 1) * strides[i] for i in range(len(counts))])


class _Conv:
    """The extent is calls of the loops: batch x groups x pieces of the output's positions."""

    def __init__(self, e, signed, flip):
        n, g, c, h, w, m, kh, kw, oh, ow = e[:10]
        xc, xh, xw, om, op = e[16:19] + e[21:23]
        k = c * kh * kw
        pieces = -(-oh * ow // e[23])
        self.n = n * g * pieces
        p = [0, c, kh, kw, xc, e[12] * xh, e[13] * xw, h, w, e[12], e[13], e[10], e[11]]
        p += [xh, xw, ow, 0, 0, flip, e[24], 0, 0, BIAS - signed[0], BIAS - signed[1]]
        self.p = block(*p)
        self.q = block(0, 0, k, 0, m, 0, op, om, 0, *[v + BIAS for v in signed[2:]])
        places = [0, pieces, e[23], oh * ow, g] + e[14:16] + e[19:21]
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
