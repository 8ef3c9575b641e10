"""Replace Scan of squared distances by com.microsoft's CDist (scikit-learn's neighbours).

1. The Scan runs forwards over the first axis of its only scanned input (V, F). Its body subtracts
   a row (F) from its only state (N, F), which stays unchanged, and sums the squares of each row.
2. The scanned output is CDist of the state and the scanned input, transposed.
"""

from __future__ import annotations

import onnx_ir as ir

from . import _graph as g

_SINCE = 9
_LISTS = (
    "scan_input_axes",
    "scan_output_axes",
    "scan_input_directions",
    "scan_output_directions",
)


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "Scan"))


def _merged(node):
    body = g.attr(node, "body")
    is_plain = g.attr(node, "num_scan_inputs") == 1 and g.opset_of(node) >= _SINCE
    if not is_plain or len(node.inputs) != 2 or len(node.outputs) != 2:
        return False
    if any(any(g.attr(node, name, [0])) for name in _LISTS):
        return False
    rows, scanned = node.inputs
    (n, features), (vectors, also) = (g.shape_of(v) or (0, 0) for v in node.inputs)
    if features != also or 0 in (n, features, vectors) or not g.is_float(rows):
        return False
    is_read = node.outputs[0].is_graph_output() or node.outputs[0].uses()
    if is_read or _same(body.outputs[0]) is not body.inputs[0] or not _sums_squares(body):
        return False
    inputs = [rows, scanned]
    apart = g.add(node, "CDist", inputs, {"metric": "sqeuclidean"}, g.MS, rows, (n, vectors))
    turned = g.add(node, "Transpose", [apart], {"perm": [1, 0]}, "", rows, (vectors, n))
    return g.replace(node, node.outputs[0], turned)


def _same(value):
    """Return a value as it was before nodes that do nothing."""
    while (node := g.maker(value, "Identity")) is not None:
        value = node.inputs[0]
    return value


def _sums_squares(body):
    """Return True if the second output is, by row, the squared distance of the inputs."""
    total = g.maker(_same(body.outputs[1]), "ReduceSumSquare")
    if total is None or g.attr(total, "keepdims", 1):
        return False
    if g.ints_of(total, "axes", 1) not in ([1], [-1]):
        return False
    apart = g.maker(_same(total.inputs[0]), "Sub")
    return apart is not None and {_same(v) for v in apart.inputs} == set(body.inputs)
