"""Convert constants between floats and integers at conversion.

1. Q of a constant becomes integers: a file may have float weights with Q and DQ behind them.
2. DQ of a single constant number becomes a float: nodes that read it may then become a table.
3. DQ of a constant that only operators of floats read becomes floats, with scales for the whole
   tensor, an axis, or blocks.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
from onnx import helper

from .. import _graph as g
from ._edit import Edit
from ._values import array_of, dtype_of, is_dq, is_kept, is_q


def compute_constants(edit: Edit) -> bool:
    """Apply rules 1 and 2; return True if one did anything."""
    changed = False
    for node in list(edit.graph):
        if not (is_q(node) or is_dq(node)) or not _is_constant(node):
            continue
        if is_q(node):
            edit.set_constant(node, _quantized(node))
            changed = True
        elif array_of(node.inputs[0]).size == 1:
            edit.set_constant(node, _dequantized(node))
            changed = True
    return changed


def unquantize(edit: Edit) -> bool:
    """Dequantize constants that no other rule uses (rule 3); return True if there were any."""
    nodes = [node for node in edit.graph if is_dq(node) and _is_constant(node)]
    for node in nodes:
        edit.set_constant(node, _dequantized(node))
    return bool(nodes)


def _quantized(node):
    values, (scale, zero) = array_of(node.inputs[0]), _parameters(node)
    dtype = helper.tensor_dtype_to_np_dtype(dtype_of(node.outputs[0]))
    limits = ml_dtypes.iinfo(dtype)
    level = np.rint(values / scale) + (0 if zero is None else zero.astype(np.float32))
    return np.clip(level, limits.min, limits.max).astype(dtype)


def _dequantized(node):
    values, (scale, zero) = array_of(node.inputs[0]), _parameters(node)
    wide = _wide(values) if zero is None else _wide(values) - _wide(zero)
    return (wide.astype(np.float32) * scale).astype(np.float32)


def _is_constant(node):
    """Return True if all is known, in float32, and nothing outside needs the result."""
    inputs = [array_of(value) for value in node.inputs if value is not None]
    if is_kept(node.outputs[0]) or any(v is None for v in inputs):
        return False
    floats = inputs[:2] if is_q(node) else inputs[1:2]
    return all(v.dtype == np.float32 for v in floats)


def _parameters(node):
    """Return scale and zero point, or None without one, in shapes that broadcast to the values."""
    like = array_of(node.inputs[0])
    known = [array_of(value) for value in node.inputs[1:] if value is not None]
    scale, zero = [_spread(v, like, node) for v in known] + [None] * (2 - len(known))
    return scale, zero


def _spread(v, like, node):
    axis, block = g.attr(node, "axis", 1), g.attr(node, "block_size", 0)
    if block:
        return np.repeat(v, block, axis)[tuple(slice(d) for d in like.shape)]
    if v.size == 1:
        return v.reshape(())
    shape = [1] * like.ndim
    shape[axis] = -1
    return v.reshape(shape)


def _wide(values):
    """Return integers as int64, floats of 8 bits and less as float32."""
    is_whole = values.dtype.name.startswith(("int", "uint"))
    return values.astype(np.int64 if is_whole else np.float32)
