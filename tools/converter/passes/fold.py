"""Constant folding, by onnxscript's optimizer.

1. What depends on constants and fixed shapes only is computed (Shape/Gather/Concat chains).
2. Constant nodes become initializers.
3. Nodes whose results nobody uses are dropped.
Graph inputs are never constants, so nothing that depends on data goes away.
"""

from __future__ import annotations

import onnx
import onnx_ir
from onnx_ir.passes import common as ir_passes
from onnxscript import optimizer

# Elements a folded constant may have: above, the file would grow for nothing (Expand of a scalar).
_INPUT_LIMIT = 1 << 20
_OUTPUT_LIMIT = 1 << 20


def fold(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy of the model in which all constant expressions are initializers."""
    ir = onnx_ir.from_proto(model)
    optimizer.fold_constants(
        ir,
        onnx_shape_inference=False,
        input_size_limit=_INPUT_LIMIT,
        output_size_limit=_OUTPUT_LIMIT,
    )
    ir_passes.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)(ir)
    ir_passes.RemoveUnusedNodesPass()(ir)
    return onnx_ir.to_proto(ir)
