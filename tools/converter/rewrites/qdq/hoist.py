"""Move QuantizeLinear up to the operator that computes, above nodes that move or limit values.

1. X -> M -> Q becomes X -> Q -> M, if M is an operator that only moves elements.
2. X -> Concat -> Q becomes a Q for each input, then Concat of integers.
3. X -> Relu or Clip -> Q becomes X -> Q -> DQ -> Relu or Clip -> Q. Relu and Clip keep the order
   of numbers, so rounding first changes nothing. The last three nodes then become a table, or
   nothing if saturation does the same (see lookup).
4. Equal Q of one value become one, and so do equal DQ.
"""

from __future__ import annotations

import numpy as np

from .. import _graph as g
from ._edit import Edit
from ._values import (
    FLOAT,
    array_of,
    dequantize,
    dequantized,
    is_dq,
    is_kept,
    is_q,
    quantized,
    quantizer,
    sole_reader,
)
from .sink import fill_with_integer, is_move

# They may leave fewer elements than there were.
_FEWER = frozenset(
    ("Gather", "GatherElements", "GatherND", "MaxPool", "ReduceMax", "ReduceMin", "Slice")
)


def hoist(edit: Edit) -> bool:
    """Apply the rules to every Q, the last ones first; return True if one did anything."""
    changed = _merge(edit)
    for node in reversed(list(edit.graph)):
        if len(node.outputs) == 1:
            quantize = quantizer(node.outputs[0])
            changed |= quantize is not None and _hoist(edit, node, quantize)
    return changed


def _merge(edit):
    first, changed = {}, False
    for node in list(edit.graph):
        if not (is_q(node) or is_dq(node)):
            continue
        out = node.outputs[0]
        scaled = quantized(node) if is_q(node) else dequantized(out)
        if scaled is None:
            continue
        key = (node.op_type, node.inputs[0], scaled.dtype, scaled.axis)
        key += (scaled.scale.tobytes(), scaled.zero.tobytes())
        kept = first.setdefault(key, node)
        if kept is not node and not is_kept(out):
            edit.redirect(out, kept.outputs[0])
            changed = True
    return changed and edit.drop_unused()


def _hoist(edit, node, quantize):
    q = quantized(quantize)
    if edit.stays_float(node):
        return False
    if is_move(edit, node, q.dtype):
        return _hoist_move(edit, node, quantize, q)
    if g.is_op(node, "Relu", "Clip"):
        return _hoist_limit(edit, node, quantize, q)
    return False


def _hoist_move(edit, node, quantize, q):
    data = list(node.inputs) if node.op_type == "Concat" else [node.inputs[0]]
    if node.op_type in _FEWER and sole_reader(data[0]) is None:
        return False
    inputs = list(node.inputs[len(data) :])
    before = [_quantize(edit, value, quantize, q) for value in data]
    inputs = [b.outputs[0] for b in before] + inputs
    if node.op_type == "Pad" and not fill_with_integer(edit, node, q, inputs):
        return False
    edit.fuse(node, quantize, [*before, edit.copy(node, inputs)])
    return True


def _quantize(edit, value, like, q):
    name = edit.new_name(value.name)
    out = edit.new_value(value.name, q.dtype, like=value)
    return edit.copy(like, [value, *like.inputs[1:]], [out], name)


def _hoist_limit(edit, node, quantize, q):
    """Move a Q above the Relu or Clip with constant limits that it alone reads.

    Args:
        edit: the round.
        node: the Relu or Clip.
        quantize: the Q.
        q: the quantized result.
    """
    x = node.inputs[0]
    limits = [array_of(value) for value in node.inputs[1:] if value is not None]
    if any(v is None or v.size != 1 for v in limits) or sole_reader(x) is None:
        return False
    producer = x.producer()
    if producer is None or is_dq(producer) or producer.domain == g.OWN:
        return False
    if not q.is_bytes or not _is_faithful(q):
        return False
    first = _quantize(edit, x, quantize, q)
    back = edit.node(
        "DequantizeLinear",
        [first.outputs[0], *quantize.inputs[1:]],
        out=edit.new_value(x.name, FLOAT, like=x),
        domain=quantize.domain,
    )
    back.name = edit.new_name(x.name)
    edit.replace(node, [first, back, edit.copy(node, [back.outputs[0], *node.inputs[1:]])])
    return True


def _is_faithful(q):
    """Return True if Q gives back the integers that went into DQ."""
    limits = np.iinfo(q.zero.dtype)
    all_of_them = np.arange(limits.min, limits.max + 1)
    with np.errstate(all="ignore"):
        back = np.rint(dequantize(all_of_them, q) / q.scale.reshape(()))
    return np.array_equal(back + int(q.zero.reshape(())), all_of_them)
