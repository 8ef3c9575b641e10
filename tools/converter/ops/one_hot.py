"""OneHot -> kernel one_hot."""

from __future__ import annotations

import math

from . import lowers


@lowers("OneHot", fixes_shape=(1,))
def lower_one_hot(node):
    index, values, out = node.inputs[0], node.inputs[2], node.outputs[0]
    axis = node.attr("axis", -1) % len(out.shape)
    outer, inner = math.prod(out.shape[:axis]), math.prod(out.shape[axis + 1 :])
    node.emit("one_hot", [index, values], [out], outer=outer, depth=out.shape[axis], inner=inner)
