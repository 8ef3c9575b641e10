"""Store equal constants once, and remove constants and nodes that nobody reads.

1. Initializers with equal dtype, shape and contents become one.
2. Initializers that no node reads are removed, and so are nodes whose results no node reads.
"""

from __future__ import annotations

import onnx_ir as ir
from onnx_ir.passes import common as ir_passes

from ..external_weights import digest_of


def rewrite(model: ir.Model) -> int:
    ir_passes.RemoveUnusedNodesPass()(model)
    return sum(_merged(graph) for graph in model.graphs())


def _merged(graph):
    first: dict[tuple, ir.Value] = {}
    n_merged = 0
    for value in list(graph.initializers.values()):
        if value.is_graph_input() or value.is_graph_output():
            continue
        same = first.setdefault(_key(value.const_value), value)
        if same is not value:
            value.replace_all_uses_with(same)
            del graph.initializers[value.name]
            n_merged += 1
    return n_merged


def _key(tensor):
    is_text = tensor.dtype == ir.DataType.STRING
    data = tuple(tensor.string_data()) if is_text else digest_of(tensor.numpy())
    return tensor.dtype, tuple(tensor.shape), data
