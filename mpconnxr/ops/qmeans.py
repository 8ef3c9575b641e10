"""qmeans: mean of each window of quantized integers, in float32 as onnxruntime computes it.

    out[b, c, y, x] = limited(round(mean / y_scale) + zy)
    mean = (sum of (items inside x - zx) * x_scale) / count

Where both scales are alike, the means of 2, 4 or 6 items often lie in the middle between two
integers: the last bits of float32, and so the order of its sums, decide. Those are computed with
products, sums and quotients rounded as float32's, by the bits of the floats, all others as
integers. Serves mpconnxr:QLinearAveragePool and com.microsoft's.

    x    uint8 or int8 (planes, H, W);  out  same dtype (planes, oh, ow)
    x_scale, y_scale  float32, one item, 2**-60 to 2**60; or, for y_scale, levels: int32, 255, the
            floats at which the integer of the mean changes, as loops/levels has them
    scratch  int32, 192
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from .dequantize import scale_word
from .qaverage_pool import Means, flip_of, windows

# params
_POOL = const(0)  # [qaverage_pool]
_COUNT = const(13)  # 0: the items inside x
_ORDER = const(14)  # of the sums (see loops/means)
_BELOW = const(15)  # negative levels
_RATIO = const(16)  # [numerator, denominator] of x_scale / y_scale, below 65 each, or 0, 1 if it
#     is no such
_N_PARAMS = const(18)

LISTED = 192  # words
_LEVELS = 255
_MOST_ITEMS = 4096  # of a window
_ONE = 127 << 23  # bits of float32
_EXTREME = 60 << 23  # scales are from 2**-60 to 2**60
_MANTISSA = (1 << 23) - 1


def prepare(node):
    node.expect(3, 1, _N_PARAMS, 1)
    node.expect_dtype("int32", *node.scratch)
    e, scratch, levels = windows(node), node.scratch[0], node.inputs[2]
    count, order, below, up, down = node.extents(_COUNT, _N_PARAMS - _COUNT)
    node.require(0 < down < 65 and up < 65 and order < 3, "ratio of scales, or order")
    node.require(min(e[1], e[3]) * min(e[2], e[4]) <= _MOST_ITEMS >= count, "windows")
    node.require(scratch.nelem == LISTED and below <= _LEVELS, "scratch or levels")
    x_scale = scale_of(node, node.inputs[1])
    y_scale = [0, 0] if levels.dtype == "int32" else scale_of(node, levels)
    if node.outputs[0].nelem == 0:
        return 0, None
    flip = flip_of(node)  # also the least byte of out
    rest = [count, order, e[11], flip, below, flip, up, down, 0, 0]
    rest += [x_scale[0] >> 12, x_scale[0] & 4095, x_scale[1]] + y_scale + [e[12], 1, 255]
    step = InFloats(node, e, rest)
    step.bind(scratch.view("i"), forms.get("means").choose, step.x, step.out)
    if levels.dtype == "int32":
        node.require(levels.nelem == _LEVELS, "levels")
        step.bind_levels(levels.view("i"))
    return e[0], step.step


def scale_of(node, t):
    """[mantissa, exponent] of a float32."""
    word = scale_word(node, t)[0]
    node.require(abs(word - _ONE) <= _EXTREME, "scale")
    return [word & _MANTISSA | 1 << 23, word >> 23]


class InFloats(Means):
    """The same, rounded by a float's scale."""

    def bind(self, w, choose, x, out):
        """choose: a loop that takes x and out as they are given here."""
        loops = forms.get("means")
        self.rounds = loops.rounds
        self.needs = [choose, loops.spans, loops.sums, loops.means]
        self.needs += [forms.get("mean_bytes").rounded, self.p, w, x, out, self.x, w, self.out]

    def bind_levels(self, levels):
        """Levels for the means, in the place of scales."""
        self.needs[4], self.needs[10] = forms.get("mean_bytes").bytes_of, levels

    def step(self, lo, hi):
        p = self.p
        p[0], p[1], p[2] = lo * self.x_plane, lo * self.out_plane, hi - lo
        p[21] = 0
        self.rounds(p, self.needs)
