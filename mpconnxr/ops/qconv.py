"""qconv: convolution of bytes over up to two spatial dims, by groups, exact in int32.

    sum[b, g, m, y, x] = c[g, m] + sum over k = (i, ky, kx) of
        (x[b, g, i, y*sy - py + ky*dy, x*sx - px + kx*dx] - zx) * (w[g, m, k] - zw)
    out = limited(round(sum * scale[g, m]) + zy, lo, hi)      bytes, rounded to even
    out = sum                                                 int32

(x is zx outside of it.) Serves QLinearConv, QGemm, QLinearMatMul and, with int32 outputs,
ConvInteger and MatMulInteger: a product of matrices is a convolution whose positions are rows.

    x    uint8 or int8, item (b, g, i, y, x) by strides
    w    uint8: a table of the G * M channels (see qtable), then the rows of each group, as in
         loops/qdot
    zx   uint8 or int8, one item, where only a run knows it (int32 outputs only)
    out  uint8, int8 or int32, position i = y * ow + x of (b, g, m) at b*on + g*og + m*om + i*op
    scratch  uint8: positions a call times (4 + K rounded up to a multiple of 4), then room for
             the table, and, where it is large enough, another room: see loops/qdot; none where
             the loops take x as it lies: uint8, K channels side by side, K a multiple of 4, and
             positions in one row, without pads
Signed bytes are computed with plus 128. K up to 33,024. Raises ModelError. A step allocates
nothing.
"""

from .. import forms
from ..parameters import BIAS, block
from ..tensor import range_of
from . import _qtable

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
_ZX = const(24)  # unsigned: int8 + 128
_ZW = const(25)  # unsigned: int8 + 128
_PADS = const(26)  # [y, x] signed
_ZY = const(28)  # signed
_LOW = const(29)  # signed
_HIGH = const(30)  # signed
_LACKS_SUMS = const(31)  # flag: c lacks -zx * (sum of its row of w)
_TABLE = const(32)  # [_qtable]
_N_PARAMS = const(37)

STREAMS = (1,)
_MAX_K = 33024  # K * 255 * 255 stays below 2**31
_BYTES = ("uint8", "int8")


def prepare(node):
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect(2 + (len(node.inputs) > 2), 1, _N_PARAMS, min(len(node.scratch), 1))
    node.over(out, x, 0)
    node.require(x.dtype in _BYTES, "dtype " + x.dtype)
    node.expect_dtype("uint8", w, *node.scratch)
    e, signed = node.extents(0, _PADS), node.signed(_PADS, _LACKS_SUMS - _PADS)
    if out.nelem == 0 or min(e[_N], e[_G], e[_M], e[_OH], e[_OW]) == 0:
        return 0, None
    table = _qtable.Table(node, _TABLE, e[_G] * e[_M])
    _check_sizes(node, e, signed, table)
    gathers = len(node.scratch) > 0
    node.require(not table.is_packed or gathers and out.dtype != "int32", "table")
    step = (_QConv if gathers else _AsItLies)(e, signed[:2], 128 if x.dtype == "int8" else 0)
    step.bind(x, w, *node.scratch)
    step.bind_table(table, e, *node.scratch)
    if node.extents(_LACKS_SUMS, 1)[0]:
        node.require(table.is_packed, "sums of rows")
        table.bind_sums(node, e[_G], step.q[2], e[_ZX])
    if len(node.inputs) > 2:
        zero = node.inputs[2]
        node.require(zero.dtype == x.dtype and zero.nelem == 1, "zero point of x")
        node.require(out.dtype == "int32", "a zero point that a run decides")
        step.take_zero(zero.view("B"))
    step.bind_output(node, out, signed[2:])
    step.bind_loops()
    return step.n, step.step


def _check_sizes(node, e, signed, table):
    """All that the loops read and write lies in the tensors, and is no more work than those."""
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    n, g, c, h, width, m, kh, kw, oh, ow = e[:10]
    k = c * kh * kw
    padded = k + 3 & -4
    node.require(0 < k and padded <= _MAX_K and max(e[_ZX], e[_ZW]) < 256, "K or zero points")
    node.require(min(h, width) > 0, "an empty input")
    node.require(
        _last((n, g, c, h, width), e[_X_STRIDES:_OUT_STRIDES]) < x.nelem, "reads beyond the input"
    )
    node.require(
        _last((n, g, m, oh * ow), e[_OUT_STRIDES:_PIECE]) < out.nelem, "writes beyond the output"
    )
    node.require(n * g * m * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(table.nbytes + g * m * padded <= w.nelem, "weights are too small")
    node.require(0 < e[_PIECE], "positions a call")
    if node.scratch:
        room = e[_PIECE] * (padded + 4) + table.room
        node.require(room <= node.scratch[0].nelem, "scratch is too small")
    else:
        row = kh * kw == oh == e[_X_STRIDES + 2] == 1 and k == padded and signed[:2] == [0, 0]
        node.require(
            row and (ow - 1) * e[_STRIDES + 1] < width and x.dtype == "uint8", "has no scratch"
        )
    node.require(min(e[_STRIDES:_X_STRIDES]) > 0, "strides or dilations")
    for i in range(2):
        far = e[_OH + i] * e[_STRIDES + i] + e[_KH + i] * e[_DILATIONS + i] + abs(signed[i])
        node.require(far < BIAS, "strides, dilations or pads")
        node.require(far * e[_X_STRIDES + 3 + i] < BIAS, "strides of the input")
    node.require(c * e[_X_STRIDES + 2] < BIAS, "strides of the input")


def _last(counts, strides):
    return sum([(counts[i] - 1) * strides[i] for i in range(len(counts))])


class _QConv:
    """The extent is calls of the loops: batch x groups x pieces of the output's positions."""

    zero = None  # point of x, if only a run knows it

    def __init__(self, e, pads, flip):
        n, g, c, h, w, m, kh, kw, oh, ow = e[:10]
        xc, xh, xw, om, op = e[_X_STRIDES + 2 : _OUT_STRIDES] + e[_OUT_STRIDES + 2 : _PIECE]
        pieces = -(-oh * ow // e[_PIECE])
        self.n = n * g * pieces
        padded = c * kh * kw + 3 & -4
        sy, sx, dy, dx = e[_STRIDES:_X_STRIDES]
        p = [0, c, kh, kw, xc, dy * xh, dx * xw, h, w, dy, dx, sy, sx]
        p += [xh, xw, ow, 0, 0, flip, e[_ZX], 0, padded - c * kh * kw]
        self.p = block(*p + [BIAS - pads[0], BIAS - pads[1]])
        within = (oh - 1) * sy < h and (ow - 1) * sx < w
        if kh * kw == 1 and within and pads == [0, 0]:
            self._along_channels(c, xc)
        self.q = block(0, 0, padded, 0, m, 0, op, om, e[_ZW], 0, 0, 0, 4, 4 + padded, 1, 0, 0)
        places = [0, pieces, e[_PIECE], oh * ow, g]
        places += e[_X_STRIDES : _X_STRIDES + 2] + e[_OUT_STRIDES : _OUT_STRIDES + 2]
        self.places = block(*places + [0, m * padded, 8 * m, 0] + [0] * 3)

    def _along_channels(self, c, stride):
        """A kernel of one item: its row is the channels, so that one loop runs along them."""
        p = self.p
        p[1], p[3], p[6], p[10] = 1, c, stride, 0

    def bind(self, x, w, scratch):
        self.bind_inputs(x, w)
        scratch.view("i")  # raises where it is not aligned
        self.patch = scratch.data
        self.pieces = forms.get("pieces").pieces

    def take_zero(self, zero):
        self.zero, self.take = zero, forms.get("pieces").zero_point

    def bind_table(self, table, e, scratch=None):
        self.table = table
        self.places[9] = table.nbytes
        end = e[_PIECE] * self.q[13]
        if scratch:
            kp, n = self.q[2], e[_PIECE]
            room = 2 * self.q[13]
            end_of_room = room + (n + n % 2) * (2 * kp + 4) + 8 * kp
            if n > 1 and end_of_room + table.room <= scratch.nelem:
                end, self.q[16] = end_of_room, room
        if table.is_packed:
            table.bind(self.w, self.patch, end)
            self.places[12], self.q[15] = table.at, 1

    def bind_inputs(self, x, w):
        self.x, self.w = x.view("B"), w.data
        w.view("i")  # raises where it is not aligned
        self.locate = forms.get("pieces").locate

    def bind_output(self, node, out, limits):
        if out.dtype == "int32":
            self.out, self.dots = out.data, forms.get("qdot32").qdots32
            return
        node.require(out.dtype in _BYTES, "dtype " + out.dtype)
        low, high = range_of(out.dtype)
        node.require(low <= limits[1] <= limits[2] <= high, "limits")
        loops = forms.get("qdot")
        are_many = self.q[14] and self.places[2] > 1
        self.out, self.dots = out.view("B"), loops.qdots8_many if are_many else loops.qdots8
        for i in range(3):
            self.q[9 + i] = limits[i] + BIAS

    def bind_loops(self):
        self.needs = [self.locate, forms.get("patches").patches, self.dots]
        self.needs += [self.places, self.p, self.q, self.x, self.patch, self.w, self.out]

    def step(self, lo, hi):
        if self.zero:
            self.take(self.zero, self.zero, self.p, self.q)
        if self.table.is_packed:
            self.table.fill()
        self.places[0], self.places[15] = lo, hi
        self.pieces(self.places, self.needs)


class _AsItLies(_QConv):
    """The same without patches: the loops read x itself, and add up its items."""

    def bind(self, x, w):
        self.bind_inputs(x, w)
        self.q[13], self.q[14] = self.p[12] * self.p[14], 0

    def bind_loops(self):
        if self.n == 1 and not self.zero:  # one call, always the same
            self._locate(0)
            self.step = self._only

    def _locate(self, i):
        self.places[0] = i
        self.locate(self.places, self.places, self.p, self.q)
        self.q[12] = self.p[0] + self.p[17] * self.q[13]

    def _only(self, lo, hi):
        self.dots(self.x, self.w, self.out, self.q)

    def step(self, lo, hi):
        if self.zero:
            self.take(self.zero, self.zero, self.p, self.q)
        while lo < hi:
            self._locate(lo)
            self.dots(self.x, self.w, self.out, self.q)
            lo += 1
