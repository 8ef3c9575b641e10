"""qblend: each byte of a plane from four of another, weighted as float32 has it.

    out[p, y, x] = limited(round(v / y_scale) + zy),     v = ((a * A + b * B) + c * C) + d * D

A and B are items of one row of x, C and D of another, as floats: (item - zx) * x_scale. a to d are
products of weights of the row y and of the column x. All products and sums are those of float32,
so that results in the middle between two integers go where onnxruntime has them. Serves
mpconnxr:QLinearResize.

    x    uint8 or int8 (planes, H, W);  out  uint8 or int8 (planes, oh, ow)
    x_scale, y_scale  float32, one item, 2**-60 to 2**60
    scratch  int32, 192 + 8 * ow
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..loops.blend import (
    _COLUMNS,
    _CORNERS_X_START,
    _LOWER_START,
    _NEXT_ELEMENT,
    _OUT_START,
    _TAPS,
    _UPPER_START,
)
from ..parameters import BIAS, block
from .qmeans import LISTED, scale_of

# params
_PLANES = const(0)
_H = const(1)
_W = const(2)
_OH = const(3)
_OW = const(4)
_ZX = const(5)  # unsigned: int8 + 128
_ZY = const(6)  # unsigned: int8 + 128
_POINT = const(7)  # bits behind that of a sum of integers; 0: floats alone
_RATIO = const(8)  # [upper, lower] 12 bits of x_scale / y_scale
_SHIFT = const(10)  # by how much more than its exponent a weight is shifted
_ROW_TAPS = const(11)  # [4 * oh] for each row of out two places in x, of their first items in a
#     plane, and two weights from 0 to 1: the bits of float32 less those of 2**-63, or 0
# then column_taps: [4 * ow] the same for each column

_ONE = 127 << 23  # bits of float32
_LEAST_WEIGHT = 64 << 23


def prepare(node):
    node.require(len(node.params) >= _ROW_TAPS, "params")
    planes, h, w, oh, ow, x_zero, y_zero, *ratio = node.extents(0, _ROW_TAPS)
    node.require(max(oh, ow) < BIAS >> 4 and max(x_zero, y_zero) < 256, "extents or zero points")
    node.require(ratio[0] < 29 and max(ratio[1:3]) < 4096 and ratio[3] > 126, "ratio of scales")
    node.expect(3, 1, _ROW_TAPS + 4 * (oh + ow), 1)
    x, out, scratch = node.inputs[0], node.outputs[0], node.scratch[0]
    node.require(x.dtype in ("uint8", "int8") and out.dtype in ("uint8", "int8"), "dtypes")
    node.require(planes * h * w == x.nelem and planes * oh * ow == out.nelem, "sizes")
    node.expect_dtype("int32", scratch)
    node.require(scratch.nelem == LISTED + 8 * ow, "scratch")
    x_scale, y_scale = [scale_of(node, t) for t in node.inputs[1:]]
    if out.nelem == 0:
        return 0, None
    rows = _table(node, _ROW_TAPS, oh, (h - 1) * w)
    columns = _table(node, _ROW_TAPS + 4 * oh, ow, w - 1)
    flip = 128 if x.dtype == "int8" else 0
    first = 128 if out.dtype == "int8" else 0
    p = [0, 0, 0, ow, h * w, oh * ow, planes, x_zero, flip, y_zero, first, 0]
    ratio += [0, 0, x_scale[0] >> 12, x_scale[0] & 4095, x_scale[1]]
    rest = [0, 0, planes] + [0] * 8 + [oh, ow] + [0] * 3 + [first] + [0] * 9 + y_scale
    step = _Blend(block(*rows), block(*p + ratio + columns + rest + [y_zero, 1, 255]))
    step.bind(x.view("B"), scratch.view("i"), out.view("B"))
    return oh, step.step


def _table(node, first, n, last):
    """The words of rows or columns; their places are from 0 to `last`."""
    words = node.extents(first, 4 * n)
    for i in range(0, 4 * n, 4):
        node.require(max(words[i], words[i + 1]) <= last, "a place outside of the input")
        for k in (i + 2, i + 3):
            if words[k]:
                words[k] += _LEAST_WEIGHT
            node.require(words[k] <= _ONE, "weights")
    return words


class _Blend:
    """The extent is rows of the output, of all planes each."""

    def __init__(self, rows, p):
        self.rows, self.p, self.columns = rows, p, p[_COLUMNS]

    def bind(self, x, words, out):
        loops = forms.get("blend")
        self.words, self.corners, self.rounds = words, loops.corners, loops.rounds
        self.needs = [loops.estimate, loops.blend, forms.get("mean_bytes").rounded]
        self.needs += [self.p, memoryview(self.p)[4 * self.columns + _TAPS :], x, words, out]

    def step(self, lo, hi):
        p, w = self.p, self.words
        while lo < hi:
            p[_UPPER_START] = self.rows[4 * lo]
            p[_LOWER_START] = self.rows[4 * lo + 1]
            p[_OUT_START] = lo * self.columns
            p[_CORNERS_X_START] = 4 * lo
            self.corners(self.rows, w, w, p)
            p[_NEXT_ELEMENT] = 0
            self.rounds(p, self.needs)
            lo += 1
