"""qmeans: mean of each window of quantized bytes, in float32 as onnxruntime computes it.

    out[b, c, y, x] = the level of (sum of (items inside x - zx) * x_scale) / count

Where both scales are alike, the means of 2, 4 or 6 items often lie in the middle between two
integers: the last bits of float32, and so the order of its sums, decide. Those are computed with
sums and quotients rounded as float32's, by the bits of the floats, all others as qaverage_pool
does. Serves mpconnxr:QLinearAveragePool and com.microsoft's.

    x    uint8 or int8 (planes, H, W);  out  same dtype (planes, oh, ow)
    multipliers  as qaverage_pool
    x_scale  float32;  levels  float32 (the scale of out) or int32, see qfloats
    scratch  int32, 128 more than qfloats fills
    params  as qaverage_pool; then the count (0: the items inside x), 1 if sums of columns are
            added up, 0 if items row after row, the number of negative levels; x_scale / y_scale as
            a fraction, below 65 each, or 0, 1 if it is no such
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from . import qfloats
from .qaverage_pool import Means, flip_of, means_of, windows

_LISTED = 128
_MOST_ITEMS = 4096  # of a window


def prepare(node):
    node.expect(4, 1, 18, 1)
    e, scratch = windows(node), node.scratch[0]
    count, by_columns, below, up, down = node.extents(13, 5)
    node.require(0 < down < 65 and up < 65 and by_columns < 2, "ratio of scales, or order")
    node.require(min(e[1], e[3]) * min(e[2], e[4]) <= _MOST_ITEMS >= count, "windows")
    node.require(scratch.nelem == qfloats.WORDS + _LISTED, "scratch")
    tables = qfloats.Tables(node, below, scratch)
    if node.outputs[0].nelem == 0:
        return 0, None
    flip = flip_of(node)  # also the least byte of out
    rest = [count, by_columns, e[11], flip, below, flip, up, down, 0, 0]
    step = _InFloats(node, e, rest)
    loops = forms.get("loops_means")
    step.choose, step.means, step.bytes_of = loops.choose, loops.means, loops.bytes_of
    step.tables, step.w = tables, tables.words
    step.in_integers = means_of(node, e).step
    return e[0], step.step


class _InFloats(Means):
    def step(self, lo, hi):
        self.in_integers(lo, hi)
        self.tables.fill()
        p = self.p
        p[0], p[1], p[2] = lo * self.x_plane, lo * self.out_plane, hi - lo
        p[21] = 0
        while p[21] < p[2] * self.out_plane:
            self.choose(self.x, self.w, self.w, p)
            self.means(self.x, self.w, self.w, p)
            self.bytes_of(self.w, self.w, self.out, p)
