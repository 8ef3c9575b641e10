"""Constant folding, by onnxscript's optimizer.

1. What depends on constants and fixed shapes only is computed (Shape/Gather/Concat chains).
2. Constant nodes and Splits of constants become initializers.
3. Nodes whose results nobody uses are dropped.
At level 0 of --optimize only what a lowering needs is computed (see keep).
Graph inputs are never constants, so nothing that depends on data goes away. The constants are
computed by onnx's reference evaluator, which has the newest meaning of some operators only: what
it would get wrong at an older opset is left to the device, and so is what would get large.
"""

from __future__ import annotations

import logging

import numpy as np
import onnx
import onnx_ir
from onnx_ir.passes import common as ir_passes
from onnxscript import optimizer

from tools import limits

from .. import external_weights
from ..context import Context
from ..errors import ConvertError
from ..protos import opset_of
from . import growth, keep, maps, sequences
from .split_constants import split_constants

# Elements a folded constant may have: above, the file would grow for nothing (Expand of a scalar).
_INPUT_LIMIT = 1 << 20
_OUTPUT_LIMIT = 1 << 20


_NEVER = 99
# Operator -> the opset from which the reference evaluator computes what the operator means.
_RIGHT_SINCE = {
    "AveragePool": _NEVER,
    "BatchNormalization": 14,
    "ConvTranspose": _NEVER,  # wrong with groups and a bias
    "GlobalMaxPool": _NEVER,  # wrong dims
    "GridSample": _NEVER,  # wrong at the borders
    "Hardmax": 13,
    "LRN": _NEVER,
    "LogSoftmax": 13,
    "LpNormalization": _NEVER,
    "LpPool": _NEVER,
    "MaxPool": _NEVER,
    "ReduceSumSquare": _NEVER,  # another dtype
    "Resize": 19,
    "RoiAlign": 16,
    "Softmax": 13,
    "Upsample": _NEVER,
}


_SECONDS = 10.0  # for one of them; the evaluator computes in Python


# Elements of a ConstantOfShape that is folded: shapes and masks, not tensors that a fill makes.
_FILL_LIMIT = 1 << 8


# Inputs that are weights, by operator.
_WEIGHTS = {
    "BatchNormalization": (1, 2, 3, 4),
    "Conv": (1, 2),
    "ConvTranspose": (1, 2),
    "Gemm": (1, 2),
    "MatMul": (1,),
}


def fold(model: onnx.ModelProto, context: Context) -> onnx.ModelProto:
    """The model itself, or a copy in which all constant expressions are initializers."""
    while True:
        model, is_done = _folded(model, context)
        if is_done:
            return model


def _folded(model, context):
    """The model after one round, and whether there is nothing to do any more."""
    bare, maps_aside = maps.set_aside(model)
    logging.getLogger("onnxscript").setLevel(logging.ERROR)  # what it does not fold is no news
    if context.keeps_operators:
        keep.hide(bare, context.operators)
    ir = external_weights.to_ir(bare)
    try:
        changed = optimizer.fold_constants(
            ir,
            onnx_shape_inference=False,
            input_size_limit=_INPUT_LIMIT,
            output_size_limit=_OUTPUT_LIMIT,
            should_fold=_chooser(bare),
        ).modified
    except Exception as e:  # its evaluator raises whatever numpy does; the text names the node
        raise ConvertError(f"a constant of the model cannot be computed: {e}") from None
    changed |= _fill_weights(ir)
    lift = ir_passes.LiftConstantsToInitializersPass(lift_all_constants=True, size_limit=0)
    changed |= lift(ir).modified
    changed |= ir_passes.RemoveUnusedNodesPass()(ir).modified
    split = False
    if changed or any(node.op_type == "Split" for node in ir.graph):
        done = external_weights.from_ir(ir)
        _as_tensors(done)
        split = split_constants(done)
    if context.keeps_operators:
        keep.reveal(done if changed or split else bare)
    return (maps.put_back(done, maps_aside) if changed or split else model), not split


def _as_tensors(model):
    """Give Constant nodes a tensor in place of numbers, which opsets before 12 do not have."""
    for node in model.graph.node:
        given = node.attribute[0] if node.op_type == "Constant" and node.attribute else None
        if given is not None and given.name in ("value_int", "value_ints"):
            values = np.array(onnx.helper.get_attribute_value(given), np.int64)
            node.ClearField("attribute")
            tensor = onnx.numpy_helper.from_array(values)
            node.attribute.append(onnx.helper.make_attribute("value", tensor))


def _fill_weights(ir):
    """ConstantOfShape of any size becomes an initializer where it makes weights; not in bodies.

    True if there was one.
    """
    found = False
    for node in list(ir.graph):
        shape = node.op_type == "ConstantOfShape" and node.inputs[0].const_value
        if shape and _is_weights(node.outputs[0]):
            given = node.attributes.get("value")
            fill = np.zeros(1, np.float32) if given is None else given.as_tensor().numpy()
            made = np.full(shape.numpy(), fill.reshape(-1)[0], fill.dtype)
            value = onnx_ir.val(f"{node.outputs[0].name}/filled", const_value=onnx_ir.tensor(made))
            ir.graph.register_initializer(value)
            node.outputs[0].replace_all_uses_with(value)
            found = True
    return found


def _is_weights(value):
    """True where all that reads a value takes it as weights, which kernels want prepared."""
    readers = list(value.uses())
    return bool(readers) and all(use.idx in _WEIGHTS.get(use.node.op_type, ()) for use in readers)


def _takes_attributes(node):
    """True for a node of a function that has an attribute of whatever calls the function."""
    return any(a.is_ref() for a in node.attributes.values())


def _chooser(model):
    """node -> True to compute it now, False to leave it, None where onnxscript's rules decide."""
    opset = opset_of(model, "")

    def choose(node):
        limits.at("folding constants", f"{node.op_type} {node.name}", most=_SECONDS)
        if node.op_type in sequences.OPERATORS or _takes_attributes(node):
            return False
        if node.op_type == "ConstantOfShape" and not node.outputs[0].is_graph_output():
            return int(np.prod(node.inputs[0].const_value.numpy())) <= _FILL_LIMIT
        if _RIGHT_SINCE.get(node.op_type, 0) > opset:
            return False
        return None if growth.is_small(node, opset_of(model, node.domain)) else False

    return choose
