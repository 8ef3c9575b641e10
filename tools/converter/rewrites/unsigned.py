"""Make signed bytes unsigned, plus 128, where products of matrices read them.

The device's loops read unsigned rows of bytes in place, signed ones from a copy.

1. A tensor of int8 that is the first operand of QGemm, QLinearMatMul or MatMulInteger, with K a
   multiple of 4, becomes uint8: the zero points of the nodes that make or read it grow by 128.
   Tables of `mpconnxr:Lookup` change their order, or their entries.
2. Tensors that must have the same dtype change with it: other operands of sums, products and
   Concat, and inputs and outputs of operators that only move or select elements.
3. An input of the graph is converted by a table, in place if no node reads it later.
4. If any other node makes or reads one of these tensors, none of them changes. An output never
   changes.

It is for boards alone: a model that is saved keeps its dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir

from . import _graph as g

_FLIP = np.uint8(128)
_ONE, _TWO = {0: 2}, {0: 2, 3: 5}
# (domain, operator): ({input: that of its zero point}, input that is the output's zero point).
_SCALED = {
    ("", "DequantizeLinear"): (_ONE, None),
    (g.MS, "DequantizeLinear"): (_ONE, None),
    ("", "QuantizeLinear"): ({}, 2),
    (g.MS, "QuantizeLinear"): ({}, 2),
    ("", "ConvInteger"): (_ONE, None),
    ("", "MatMulInteger"): ({0: 2, 1: 3}, None),
    ("", "QLinearConv"): (_ONE, 7),
    ("", "QLinearMatMul"): (_TWO, 7),
    (g.MS, "QGemm"): (_TWO, 8),
    (g.MS, "QLinearAdd"): (_TWO, 7),
    (g.MS, "QLinearMul"): (_TWO, 7),
    (g.MS, "QLinearAveragePool"): (_ONE, 4),
    (g.OWN, "QLinearAveragePool"): (_ONE, 4),
    (g.OWN, "QLinearResize"): (_ONE, 4),
    (g.MS, "QLinearGlobalAveragePool"): (_ONE, 4),
    (g.OWN, "QLinearGlobalAveragePool"): (_ONE, 4),
    (g.MS, "QLinearLeakyRelu"): (_ONE, 4),
    (g.MS, "QLinearSigmoid"): (_ONE, 4),
    (g.OWN, "QLinearLayerNormalization"): (_ONE, 6),
    (g.MS, "QLinearSoftmax"): (_ONE, 4),
    (g.OWN, "QLinearSoftmax"): (_ONE, 4),
}
# (domain, operator): number of the second operand.
_PRODUCTS = {("", "MatMulInteger"): 1, ("", "QLinearMatMul"): 3, (g.MS, "QGemm"): 3}
# Inputs and output may differ in dtype.
_BY_THEMSELVES = {("", "QLinearConv"), ("", "ConvInteger"), *_PRODUCTS}
_MOVES = """DepthToSpace Expand Flatten Gather Identity MaxPool Reshape Slice SpaceToDepth Split
    Squeeze Tile Transpose Unsqueeze"""
_MOVING = frozenset(_MOVES.split())


def rewrite(model: ir.Model) -> int:
    """Apply the rules, and return how many tensors changed."""
    places = {node: _places(node) for node in model.graph}
    regions = _regions(places)
    gaining = {regions[v] for node in places for v in _gaining(node) if v in regions}
    chosen = [v for v, region in regions.items() if region in gaining]
    spoilt = {regions[v] for v in chosen if not _is_free(v, places)}
    changed = {v for v in chosen if regions[v] not in spoilt}
    for node, (scaled, same, zero) in places.items():
        _change(node, scaled, same, zero, changed)
    for value in changed:
        if value.is_graph_input():
            _flip(model, value)
        else:
            value.dtype = ir.DataType.UINT8
    return len(changed)


def _places(node) -> tuple[dict[int, int], list[int], int | None]:
    """Return which inputs may be bytes, and which inputs are their zero points, by number.

    Returns:
        ({input: its zero point}, inputs of the outputs' dtype, the outputs' zero point);
        ({}, [], None) for an operator that is not known.
    """
    key, n = (node.domain, node.op_type), len(node.inputs)
    if key == (g.MS, "QLinearConcat"):
        scaled = {i: i + 2 for i in range(2, n, 3)}
        return scaled, list(scaled), 1
    if key in _SCALED:
        scaled, zero = _SCALED[key]
        scaled = {i: at for i, at in scaled.items() if i < n}
        return scaled, [] if key in _BY_THEMSELVES else list(scaled), zero
    if key == ("", "Concat"):
        return {}, list(range(n)), None
    if key == ("", "Pad"):
        return {}, [0, 2] if g.input_of(node, 2) is not None else [], None
    if node.domain == "" and node.op_type in _MOVING and not _has_indices(node):
        return {}, [0], None
    return {}, [], None


def _has_indices(node):
    return node.op_type == "MaxPool" and len(node.outputs) > 1


def _is_bytes(value):
    return value is not None and value.dtype == ir.DataType.INT8 and g.const(value) is None


def _regions(places) -> dict[ir.Value, int]:
    """Return by int8 tensor the number of those that share its dtype."""
    values = [v for node in places for v in (*node.inputs, *node.outputs) if _is_bytes(v)]
    region_of = {v: i for i, v in enumerate(dict.fromkeys(values))}
    for node, (_, same, _) in places.items():
        if not same:
            continue
        joined = {
            region_of[v]
            for v in (*(node.inputs[i] for i in same), *node.outputs)
            if v in region_of
        }
        for v, region in region_of.items():
            if region in joined:
                region_of[v] = min(joined)
    return region_of


def _gaining(node) -> Iterator[ir.Value]:
    """Yield the operand of a product that the device could read without a copy if unsigned."""
    w = _PRODUCTS.get((node.domain, node.op_type))
    if w is not None and _is_bytes(node.inputs[0]):
        shape = g.shape_of(node.inputs[0])
        is_row = shape is not None and len(shape) > 0 and shape[-1] % 4 == 0
        if is_row and node.inputs[w] is not None and not g.attr(node, "transA", 0):
            yield node.inputs[0]


def _is_free(value, places):
    """Return True if the dtype of all that makes or reads the tensor can change."""
    node = value.producer()
    if value.is_graph_output() or not (value.is_graph_input() or _is_made(node, places)):
        return False
    return all(_is_read(use.node, use.idx, places) for use in value.uses())


def _is_made(node, places):
    if node not in places:
        return False
    scaled, same, zero = places[node]
    if _is_lookup(node):
        return _are_known(node, [1])
    zeros = [] if zero is None else [zero]
    return bool(same or zeros) and _are_known(node, [*scaled.values(), *zeros])


def _is_read(node, i, places):
    if node not in places:
        return False
    scaled, same, _ = places[node]
    if _is_lookup(node):
        return i == 0 and _are_known(node, [1])
    return _are_known(node, scaled.values()) if i in scaled else i in same


def _are_known(node, inputs):
    return all(g.const(g.input_of(node, i)) is not None for i in inputs)


def _is_lookup(node):
    return g.is_op(node, "Lookup", domain=g.OWN)


def _change(node, scaled, same, zero, changed):
    """Change a node's zero points and constants for inputs and outputs that become unsigned.

    Args:
        node: the node.
        scaled: {index of an input of bytes: index of its zero point}.
        same: indices of inputs that must have the dtype of the outputs.
        zero: index of the output's zero point, or None.
        changed: the values that become unsigned.
    """
    outputs = not changed.isdisjoint(node.outputs)
    if _is_lookup(node):
        _reorder(node, node.inputs[0] in changed, outputs)
        return
    for i in same if outputs else []:
        if node.inputs[i] not in changed and node.inputs[i].dtype == ir.DataType.INT8:  # constant
            _shift(node, i)
            if i in scaled:
                _shift(node, scaled[i])
    for i, at in scaled.items():
        if node.inputs[i] in changed:
            _shift(node, at)
    if outputs and zero is not None:
        _shift(node, zero)
        node.attributes.pop("output_dtype", None)  # the zero point's


def _shift(node, i):
    """Add 128 to a constant, zero points and bytes alike."""
    _replace(node, i, _flipped(g.const(node.inputs[i])))


def _flipped(data):
    return data.view(np.uint8) ^ _FLIP


def _replace(node, i, data):
    node.replace_input_with(i, g.constant(node.inputs[i], data))


def _reorder(node, by_input, by_output):
    table = g.const(node.inputs[1])
    if by_input:
        table = table[np.arange(256) ^ _FLIP]
    if by_output:
        table = _flipped(table)
    if by_input or by_output:
        _replace(node, 1, table)


def _flip(model, value):
    """Put a table between an input of the graph and all that reads it."""
    first = next(node for node in model.graph if value in node.inputs)
    uses = [(use.node, use.idx) for use in value.uses()]
    table = g.constant(value, np.arange(256, dtype=np.uint8) ^ _FLIP)
    out = g.add(first, "Lookup", [value, table], {}, g.OWN, like=value)
    out.dtype = ir.DataType.UINT8
    for node, i in uses:
        node.replace_input_with(i, out)
