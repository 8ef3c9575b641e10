"""qdepthwise: convolution of bytes, each channel by itself, over up to two spatial dims.

    sum[b, g, m, y, x] = c[g, m] + sum over ky, kx of
        (x[b, g, y*sy - py + ky*dy, x*sx - px + kx*dx] - zx) * (w[g, m, ky, kx] - zw)
    out = limited(round(sum * scale[g, m]) + zy, lo, hi)       rounded to even

(x is zx outside of it.) Serves QLinearConv whose groups have one channel.

    x    uint8 or int8, item (b, g, y, x) by strides
    w    uint8: a table of the G * M channels (see qtable), then kh * kw weights for each
    out  uint8 or int8, position i = y * ow + x of (b, g, m) at b*on + (g*M + m)*om + i*op
    scratch  uint8: kh * kw * 4, and padded planes or parts of them: planes * rows * row, where
             a row has (ow - 1) * sx + (kw - 1) * dx + 1 bytes and covers are
             (output rows - 1) * sy + (kh - 1) * dy + 1 rows; from the next multiple of 4 on room
             for the table
Signed bytes are computed with plus 128. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block
from ..tensor import range_of
from . import _qtable

# params
_N = const(0)
_G = const(1)
_M = const(2)
_H = const(3)
_W = const(4)
_KH = const(5)
_KW = const(6)
_OH = const(7)
_OW = const(8)
_STRIDES = const(9)  # [y, x]
_DILATIONS = const(11)  # [y, x]
_X_STRIDES = const(13)  # [b, g, y, x] in items
_OUT_STRIDES = const(17)  # [b, m, i] in items; i: position
_PLANES = const(20)  # a call
_OUT_ROWS = const(21)  # a call, of one plane, unless it is all
_ZX = const(22)  # unsigned: int8 + 128
_ZW = const(23)  # unsigned: int8 + 128
_PADS = const(24)  # [y, x] signed
_ZY = const(26)  # signed
_LOW = const(27)  # signed
_HIGH = const(28)  # signed
_TABLE = const(29)  # [_qtable]
_N_PARAMS = const(34)

STREAMS = (1,)
_MAX_K = 33024  # K * 255 * 255 stays below 2**31
_BYTES = ("uint8", "int8")


def prepare(node):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w = node.inputs
    out, scratch = node.outputs[0], node.scratch[0]
    node.over(out, x, 0)
    node.require(x.dtype in _BYTES and out.dtype in _BYTES, "dtype")
    node.expect_dtype("uint8", w, scratch)
    e, signed = node.extents(0, _PADS), node.signed(_PADS, _TABLE - _PADS)
    if out.nelem == 0 or min(e[_N], e[_G], e[_M], e[_OH], e[_OW]) == 0:
        return 0, None
    low, high = range_of(out.dtype)
    node.require(low <= signed[3] <= signed[4] <= high, "limits")
    table = _qtable.Table(node, _TABLE, e[_G] * e[_M])
    at = _check_sizes(node, e, signed, table)
    step = _Depthwise(e, signed, 128 if x.dtype == "int8" else 0)
    step.bind(x, w, out, scratch)
    step.bind_table(table, at)
    return step.n, step.step


def _check_sizes(node, e, signed, table):
    """All that the loops read and write lies in the tensors, and is no more work than those.

    Returns where in scratch the room for the table begins.
    """
    x, w, out, scratch = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    n, g, m, h, width, kh, kw, oh, ow, sy, sx, dy, dx = e[:_X_STRIDES]
    planes, rows = e[_PLANES:_ZX]
    k = kh * kw
    node.require(0 < k <= _MAX_K and max(e[_ZX:_PADS]) < 256, "K or zero points")
    node.require(min(h, width) > 0, "an empty input")
    node.require(
        _last((n, g, h, width), e[_X_STRIDES:_OUT_STRIDES]) < x.nelem, "reads beyond the input"
    )
    node.require(
        _last((n, g * m, oh * ow), e[_OUT_STRIDES:_PLANES]) < out.nelem, "writes beyond the output"
    )
    node.require(n * g * m * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(table.nbytes + g * m * k <= w.nelem, "weights are too small")
    for i in range(2):
        far = e[_OH + i] * e[_STRIDES + i] + e[_KH + i] * e[_DILATIONS + i] + abs(signed[i])
        node.require(far < BIAS, "strides, dilations or pads")
    node.require(0 < planes and 0 < rows and (planes == 1 or rows >= oh), "planes or rows")
    covered = (min(rows, oh) - 1) * sy + (kh - 1) * dy + 1
    row = (ow - 1) * sx + (kw - 1) * dx + 1
    used = 4 * k + planes * covered * row
    at = used + 3 & -4
    used = at + table.room if table.is_packed else used
    node.require(used <= scratch.nelem, "scratch is too small")
    return at


def _last(counts, strides):
    return sum([(counts[i] - 1) * strides[i] for i in range(len(counts))])


class _Depthwise:
    """The extent is calls of the loops: batch x (pieces of planes, or pieces of a plane)."""

    def __init__(self, e, signed, flip):
        n, g, m, h, w, kh, kw, oh, ow, sy, sx, dy, dx = e[:_X_STRIDES]
        x_plane, xh, xw, om, op = e[_X_STRIDES + 1 : _OUT_STRIDES] + e[_OUT_STRIDES + 1 : _PLANES]
        rows = min(e[_OUT_ROWS], oh)
        by_rows = -(-oh // rows)
        per_batch = by_rows * -(-g // e[_PLANES])
        self.n = n * per_batch
        row = (ow - 1) * sx + (kw - 1) * dx + 1
        left = min(max(signed[1], 0), row)
        skip = max(-signed[1], 0)
        items = max(min(w - skip, row - left), 0)
        first = 4 * kh * kw
        p = [0, 0, x_plane, h, 0, xh, xw, row, left, items, first, 0, flip, e[_ZX]]
        q = [first, 0, 0, m, kh, kw, dy * row, dx, 0, ow, sy * row, sx, 0, 0, 0, om, op, e[_ZW]]
        self.p, self.q = block(*p), block(*q + [v + BIAS for v in signed[2:]], 0)
        places = [0, per_batch, by_rows, e[_PLANES], g, rows, oh, e[_X_STRIDES]]
        places += [
            skip * xw if items else 0,
            e[_OUT_STRIDES],
            (kh - 1) * dy + 1,
            sy,
            BIAS - signed[0],
            0,
            0,
            0,
        ]
        self.places = block(*places)

    def bind(self, x, w, out, scratch):
        scratch.view("i"), w.view("i")  # raise where they are not aligned
        self.w, self.scratch = w.data, scratch.data
        pieces, loops = forms.get("pieces"), forms.get("depthwise")
        loop = loops.depthwise8
        if self.q[7] == 1 < self.q[5] < 9:
            is_33 = self.q[4] == self.q[5] == 3
            loop = loops.depthwise33 if is_33 else loops.depthwise_dense
        self.needs = [pieces.locate_planes, forms.get("planes").planes, loop]
        self.needs += [self.places, self.p, self.q]
        self.needs += [x.view("B"), self.scratch, self.w, out.view("B")]
        self.pieces = pieces.pieces

    def bind_table(self, table, at):
        self.table = table
        self.places[13] = table.nbytes
        if table.is_packed:
            table.bind(self.w, self.scratch, at)
            self.places[14], self.q[21] = at, 1

    def step(self, lo, hi):
        if self.table.is_packed:
            self.table.fill()
        self.places[0], self.places[15] = lo, hi
        self.pieces(self.places, self.needs)
