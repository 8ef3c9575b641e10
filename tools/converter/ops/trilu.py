"""Trilu -> kernels move and select, with a constant mask."""

from __future__ import annotations

import numpy as np

from . import lowers
from .select import emit_where


@lowers("Trilu", fixes_shape=(1,))
def lower_trilu(node):
    x, out = node.inputs[0], node.outputs[0]
    k = int(node.const(1, "k").reshape(-1)[0]) if node.input(1) is not None else 0
    ones = np.ones(x.shape[-2:], np.bool_)
    mask = np.triu(ones, k) if node.attr("upper", 1) else np.tril(ones, k)
    emit_where(node, node.constant(mask), x, node.constant(np.zeros(1, x.np_dtype)), out)
