"""qdepthwise: convolution of bytes, each channel by itself, over up to two spatial dims.

    sum[b, g, m, y, x] = c[g, m] + sum over ky, kx of
        (x[b, g, y*sy - py + ky*dy, x*sx - px + kx*dx] - zx) * (w[g, m, ky, kx] - zw)
    out = limited(round(sum * scale[g, m]) + zy, lo, hi)       rounded to even

(x is zx outside of it.) Serves QLinearConv whose groups have one channel.

    x    uint8 or int8, item (b, g, y, x) by strides
    w    uint8: 8 bytes for each of G * M channels (see loops_qdot), then kh * kw weights for each
    out  uint8 or int8, position i = y * ow + x of (b, g, m) at b*on + (g*M + m)*om + i*op
    scratch  uint8: kh * kw * 4, and padded planes or parts of them: planes * rows * row, where
             a row has (ow - 1) * sx + (kw - 1) * dx + 1 bytes and covers are
             (output rows - 1) * sy + (kh - 1) * dy + 1 rows
    params  N, G, M, H, W, kh, kw, oh, ow, strides y, x, dilations y, x, strides of x b, g, y, x,
            strides of out on, om, op, planes a call, output rows a call (of one plane, unless it
            is all), zx, zw (unsigned: int8 + 128), signed: pads y, x, zy, lo, hi
Signed bytes are computed with plus 128. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..node import BIAS, block
from ..tensor import range_of

STREAMS = (1,)
_MAX_K = 33024  # K * 255 * 255 stays below 2**31
_BYTES = ("uint8", "int8")


def prepare(node):
    node.expect(2, 1, 29, 1)
    x, w = node.inputs
    out, scratch = node.outputs[0], node.scratch[0]
    node.require(x.dtype in _BYTES and out.dtype in _BYTES, "dtype")
    node.expect_dtype("uint8", w, scratch)
    e, signed = node.extents(0, 24), node.signed(24, 5)
    if out.nelem == 0 or min(e[0], e[1], e[2], e[7], e[8]) == 0:
        return 0, None
    low, high = range_of(out.dtype)
    node.require(low <= signed[3] <= signed[4] <= high, "limits")
    _check_sizes(node, e, signed)
    step = _Depthwise(e, signed, 128 if x.dtype == "int8" else 0)
    step.bind(x, w, out, scratch)
    return step.n, step.step


def _check_sizes(node, e, signed):
    """All that the loops read and write lies in the tensors, and is no more work than those."""
    x, w, out, scratch = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    n, g, m, h, width, kh, kw, oh, ow, sy, sx, dy, dx = e[:13]
    planes, rows = e[20:22]
    k = kh * kw
    node.require(0 < k <= _MAX_K and max(e[22:24]) < 256, "K or zero points")
    node.require(min(h, width) > 0, "an empty input")
    node.require(_last((n, g, h, width), e[13:17]) < x.nelem, "reads beyond the input")
    node.require(_last((n, g * m, oh * ow), e[17:20]) < out.nelem, "writes beyond the output")
    node.require(n * g * m * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(g * m * (8 + k) <= w.nelem, "weights are too small")
    for i in range(2):
        far = e[7 + i] * e[9 + i] + e[5 + i] * e[11 + i] + abs(signed[i])
        node.require(far < BIAS, "strides, dilations or pads")
    node.require(0 < planes and 0 < rows and (planes == 1 or rows >= oh), "planes or rows")
    covered = (min(rows, oh) - 1) * sy + (kh - 1) * dy + 1
    row = (ow - 1) * sx + (kw - 1) * dx + 1
    node.require(4 * k + planes * covered * row <= scratch.nelem, "scratch is too small")


def _last(counts, strides):
    return sum([(counts[i] - 1) * strides[i] for i in range(len(counts))])


class _Depthwise:
    """The extent is calls of the loops: batch x (pieces of planes, or pieces of a plane)."""

    def __init__(self, e, signed, flip):
        n, self.groups, m, h, w, kh, kw, self.oh, ow, self.sy, sx, dy, dx = e[:13]
        self.x_batch, self.x_plane, xh, xw = e[13:17]
        self.out_batch, om, op = e[17:20]
        self.planes, self.rows = e[20], min(e[21], self.oh)
        self.m, self.k, self.pad = m, kh * kw, signed[0]
        self.over = (kh - 1) * dy + 1 - self.sy  # rows that a window reaches beyond its stride
        self.by_rows = -(-self.oh // self.rows)
        self.per_batch = self.by_rows * -(-self.groups // self.planes)
        self.n = n * self.per_batch
        row = (ow - 1) * sx + (kw - 1) * dx + 1
        left = min(max(signed[1], 0), row)
        skip = max(-signed[1], 0)
        items = max(min(w - skip, row - left), 0)
        self.x_first = skip * xw if items else 0
        first = 4 * self.k
        self.p = block(0, 0, self.x_plane, h, 0, xh, xw, row, left, items, first, 0, flip, e[22])
        q = [first, 0, 0, m, kh, kw, dy * row, dx, 0, ow, self.sy * row, sx, 0, 0, 0]
        self.q = block(*q + [om, op, e[23]] + [v + BIAS for v in signed[2:]])

    def bind(self, x, w, out, scratch):
        scratch.view("i"), w.view("i")  # raise where they are not aligned
        self.x, self.w = x.view("B"), w.data
        self.out, self.scratch = out.view("B"), scratch.data
        self.copy = forms.get("loops_planes").planes
        self.loop = forms.get("loops_depthwise").depthwise8

    def step(self, lo, hi):
        while lo < hi:
            piece = lo % self.per_batch
            self._locate(lo // self.per_batch, piece // self.by_rows * self.planes)
            self._take_rows(piece % self.by_rows * self.rows)
            self.copy(self.x, self.x, self.scratch, self.p)
            self.loop(self.scratch, self.w, self.out, self.q)
            lo += 1

    def _locate(self, batch, group):
        """Sets the loops' parameters for planes from `group` on."""
        p, q = self.p, self.q  # few locals: a frame of more than 11 words would come from the heap
        p[0] = batch * self.x_batch + group * self.x_plane + self.x_first
        p[1] = q[2] = min(self.planes, self.groups - group)
        q[12] = 8 * group * self.m
        q[13] = (8 * self.groups + group * self.k) * self.m
        q[14] = batch * self.out_batch + group * self.m * q[15]

    def _take_rows(self, first):
        p, q = self.p, self.q
        q[8] = min(self.rows, self.oh - first)
        p[4] = q[8] * self.sy + self.over
        p[11] = first * self.sy - self.pad + BIAS
        q[1] = p[4] * p[7]
        q[14] += first * q[9] * q[16]
