"""CenterCropPad -> kernel move."""

from __future__ import annotations

import numpy as np

from . import lowers
from ._move import emit_fill
from ._select import emit_select


@lowers("CenterCropPad", fixes_shape=(1,))
def lower_center_crop_pad(node):
    """An odd item is added or cut at the end; zeros are added."""
    x, out = node.inputs[0], node.outputs[0]
    maps = [np.arange(d) for d in x.shape]
    for axis in node.attr("axes", range(len(x.shape))):
        d, wanted = x.shape[axis], out.shape[axis]
        first = (d - wanted) // 2 if wanted <= d else -((wanted - d) // 2)
        index = first + np.arange(wanted)
        maps[axis] = np.where((index < 0) | (index >= d), -1, index)
    if any((m < 0).any() for m in maps):
        emit_fill(node, node.constant(np.zeros(1, x.np_dtype)), out)
    emit_select(node, x, out, maps)
