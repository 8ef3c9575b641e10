"""Bytes as floats, and floats as bytes: the tables of loops that compute in float32 by its bits.

words   256 floats: what a byte this far from its zero point stands for, without the sign; then
        255 levels: the floats at which the integer of the result changes, as loops_levels has
"""

from .. import forms
from ..node import BIAS, block
from .dequantize import scale_word

LEVELS = 255
WORDS = 256 + LEVELS
_BYTES = bytes(range(256))
_ONE = 127 << 23  # bits of float32
_EXTREME = 60 << 23  # scales are from 2**-60 to 2**60


class Tables:
    """Fills scratch (words) in each step.

    The last two inputs of the node: the scale of x; float32, the scale of the result, or int32,
    the levels themselves. below: how many of those are negative.
    """

    def __init__(self, node, below, scratch):
        x_scale, levels = node.inputs[-2], node.inputs[-1]
        node.expect_dtype("int32", scratch)
        self.words = scratch.view("i")
        self.levels = self.words[256:WORDS]
        self.scale = _scale(node, x_scale)
        self.floats, self.floats_p = forms.get("loops_dequantize").dequantize8, block(0, 256, 0, 0)
        node.require(below <= LEVELS, "levels")
        if levels.dtype == "int32":
            node.require(levels.nelem == LEVELS, "levels")
            self.source, self.make = levels.view("i"), forms.get("loops_move").copy32
            still = [BIAS, BIAS]
            self.p = block(*[0, 1, 1, LEVELS] + (still + [BIAS + 1]) * 2 + still)
        else:
            self.source, self.make = _scale(node, levels), forms.get("loops_thresholds").thresholds
            self.p = block(BIAS + 1 - below, LEVELS)

    def fill(self):
        self.floats(_BYTES, self.scale, self.words, self.floats_p)
        self.make(self.source, self.source, self.levels, self.p)


def _scale(node, t):
    word = scale_word(node, t)
    node.require(abs(word[0] - _ONE) <= _EXTREME, "scale")
    return word
