"""qmeans: mean of each window of quantized bytes, in float32 as onnxruntime computes it.

    out[b, c, y, x] = the level of (sum of (items inside x - zx) * x_scale) / count

Where both scales are alike, the means of 2, 4 or 6 items often lie in the middle between two
integers: the last bits of float32, and so the order of its sums, decide. All sums and quotients
are rounded as float32's, by the bits of the floats. Serves mpconnxr:QLinearAveragePool and
com.microsoft's; qaverage_pool is several times as fast where nothing lies in the middle.

    x    uint8 or int8 (planes, H, W);  out  same dtype (planes, oh, ow)
    x_scale  float32;  levels  float32 (the scale of out) or int32, see qfloats
    scratch  int32, what qfloats fills
    params  as qaverage_pool, but the number of negative levels for zy; then the count (0: the
            items inside x), and 1 if sums of columns are added up, 0 if items row after row
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from . import qfloats
from .qaverage_pool import MOST_ITEMS, Means, flip_of, windows


def prepare(node):
    node.expect(3, 1, 15, 1)
    e, scratch = windows(node), node.scratch[0]
    count, by_columns = node.extents(13, 2)
    node.require(count <= MOST_ITEMS and by_columns < 2, "count or order")
    node.require(scratch.nelem == qfloats.WORDS, "scratch")
    tables = qfloats.Tables(node, e[12], scratch)
    if node.outputs[0].nelem == 0:
        return 0, None
    flip = flip_of(node)  # also the least byte of out
    step = _InFloats(node, e, [count, by_columns, e[11], flip, e[12], flip])
    step.tables, step.w, step.loop = tables, tables.words, forms.get("loops_means").means
    return e[0], step.step


class _InFloats(Means):
    def step(self, lo, hi):
        self.tables.fill()
        Means.step(self, lo, hi)
