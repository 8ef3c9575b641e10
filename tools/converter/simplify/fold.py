"""Fold constants by onnxscript's optimizer.

1. Nodes that depend only on constants and fixed shapes are computed (Shape/Gather/Concat chains).
2. Constant nodes, and Splits of constants, become initializers.
3. Nodes whose results are not used are removed.

At level 0 of --optimize, only what a lowering needs is computed (see keep). Graph inputs are never
constants. onnx's reference evaluator computes the constants. It knows some operators only in their
newest version: where it would be wrong at an older opset, the device computes the node, and
likewise where the result would be much larger than its inputs.
"""

from __future__ import annotations

import logging
import math

import numpy as np
import onnx
import onnx_ir
from onnx import defs, helper, numpy_helper, shape_inference
from onnx_ir.passes import common as ir_passes
from onnxscript import optimizer

from tools import limits

from .. import external_weights, ir_weights
from ..context import Context
from ..errors import ConvertError
from ..protos import opset_of
from . import keep, maps, sequences

# Elements of a folded constant: larger ones, such as an Expand of a scalar, only grow the file.
_INPUT_LIMIT = 1 << 20
_OUTPUT_LIMIT = 1 << 20

_NEVER = 99
# Operator -> the first opset that the reference evaluator computes correctly.
_RIGHT_SINCE = {
    "AveragePool": _NEVER,
    "BatchNormalization": 14,
    "ConvTranspose": _NEVER,  # wrong with groups and a bias
    "GlobalMaxPool": _NEVER,  # wrong dims
    "GridSample": _NEVER,  # wrong at the edges
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

_SECONDS = 10.0  # for one node; the evaluator computes in Python

# Elements of a folded ConstantOfShape: enough for shapes and masks; the device fills larger ones.
_FILL_LIMIT = 1 << 8

# Indexes of inputs that are weights, by operator.
_WEIGHTS = {
    "BatchNormalization": (1, 2, 3, 4),
    "Conv": (1, 2),
    "ConvTranspose": (1, 2),
    "Gemm": (1, 2),
    "MatMul": (1,),
}


_SMALL_NBYTES = 1 << 16  # bytes of a constant that is folded whatever its inputs are
_MOST_GROWTH = 16  # by which a larger constant may exceed its inputs
_MOST_NBYTES = 16 << 20  # bytes
_MOST_READ = 1 << 10  # elements of an input whose contents may decide sizes
# The contents of the input decide the size of the output: at most the input's, times its rank.
_PICKING = ("NonZero", "Unique", "Compress")


def fold(model: onnx.ModelProto, context: Context) -> onnx.ModelProto:
    """Return the model with all constant expressions as initializers, in a copy if it has any."""
    while True:
        model, is_settled = _fold_once(model, context)
        if is_settled:
            return model


def _fold_once(model, context):
    """Fold once; return the model, and True if no constant is left to fold."""
    bare, removed_maps = maps.remove_maps(model)
    logging.getLogger("onnxscript").setLevel(logging.ERROR)  # it logs all nodes that it leaves
    if context.keeps_operators:
        keep.hide(bare, context.operators)
    ir = ir_weights.to_ir(bare)
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
        folded = ir_weights.from_ir(ir)
        _as_tensors(folded)
        split = _split_constants(folded)
    if context.keeps_operators:
        keep.reveal(folded if changed or split else bare)
    return (maps.restore_maps(folded, removed_maps) if changed or split else model), not split


def _as_tensors(model):
    """Give each Constant node a tensor instead of integers, which opsets before 12 do not know."""
    for node in model.graph.node:
        number = node.attribute[0] if node.op_type == "Constant" and node.attribute else None
        if number is not None and number.name in ("value_int", "value_ints"):
            values = np.array(helper.get_attribute_value(number), np.int64)
            node.ClearField("attribute")
            tensor = numpy_helper.from_array(values)
            node.attribute.append(helper.make_attribute("value", tensor))


def _fill_weights(ir):
    """Replace each ConstantOfShape of weights, except in bodies; return True if there was any."""
    has_changed = False
    for node in list(ir.graph):
        shape = node.op_type == "ConstantOfShape" and node.inputs[0].const_value
        if shape and _is_weights(node.outputs[0]):
            attribute = node.attributes.get("value")
            fill = np.zeros(1, np.float32) if attribute is None else attribute.as_tensor().numpy()
            array = np.full(shape.numpy(), fill.reshape(-1)[0], fill.dtype)
            value = onnx_ir.val(
                f"{node.outputs[0].name}/filled", const_value=onnx_ir.tensor(array)
            )
            ir.graph.register_initializer(value)
            node.outputs[0].replace_all_uses_with(value)
            has_changed = True
    return has_changed


def _is_weights(value):
    """Return True if all readers of a value use it as weights, which kernels want prepared."""
    readers = list(value.uses())
    return bool(readers) and all(use.idx in _WEIGHTS.get(use.node.op_type, ()) for use in readers)


def _takes_attributes(node):
    """Return True for a node of a function that uses an attribute of the function's caller."""
    return any(a.is_ref() for a in node.attributes.values())


def _chooser(model):
    """Return a function of a node: True to fold it, False to keep it, None to ask onnxscript."""
    opset = opset_of(model, "")

    def choose(node):
        limits.at("folding constants", f"{node.op_type} {node.name}", most=_SECONDS)
        if node.op_type in sequences.OPERATORS or _takes_attributes(node):
            return False
        if node.op_type == "ConstantOfShape" and not node.outputs[0].is_graph_output():
            return int(np.prod(node.inputs[0].const_value.numpy())) <= _FILL_LIMIT
        if _RIGHT_SINCE.get(node.op_type, 0) > opset:
            return False
        return None if _is_small(node, opset_of(model, node.domain)) else False

    return choose


def _is_small(node: onnx_ir.Node, opset: int) -> bool:
    """Return True if the outputs of a node of constants are small enough for the file.

    A constant that is much larger than its inputs stays a step, which computes it on the device:
    Expand, Tile, Pad, Range, or a Concat of a value with itself.
    """
    constants = [x.const_value for x in node.inputs if x is not None]
    nbytes = sum(t.nbytes for t in constants)
    if node.op_type in _PICKING:
        return nbytes * max((len(t.shape) for t in constants), default=1) <= _MOST_NBYTES
    try:
        sizes = _range_sizes(constants) if node.op_type == "Range" else _output_sizes(node, opset)
    except Exception:  # onnx raises several kinds for a node that makes no sense
        return False
    nbytes_out = math.inf if None in sizes else sum(sizes)
    return nbytes_out <= _SMALL_NBYTES or nbytes_out <= min(_MOST_GROWTH * nbytes, _MOST_NBYTES)


def _output_sizes(node, opset):
    """Return the bytes of each output, None if they do not follow."""
    schema = defs.get_schema(node.op_type, opset, node.domain)
    proto = onnx_ir.to_proto(node)
    types, data = {}, {}
    for x in node.inputs:
        if x is not None:
            t = x.const_value
            types[x.name] = helper.make_tensor_type_proto(int(t.dtype), list(t.shape))
            if t.size <= _MOST_READ:
                data[x.name] = onnx_ir.to_proto(t)
    opsets = [helper.make_opsetid(node.domain, opset)]
    inferred = shape_inference.infer_node_outputs(schema, proto, types, data, opset_imports=opsets)
    return [_type_nbytes(inferred.get(out.name)) for out in node.outputs if out.name]


def _range_sizes(constants):
    """Return the bytes of the output of Range, whose inputs may have one element in a list here.

    The evaluator allows that, onnx's inference does not.
    """
    start, limit, delta = (t.numpy().item() for t in constants)
    return [max(0, math.ceil((limit - start) / delta)) * constants[0].numpy().itemsize]


def _type_nbytes(kind):
    tensor = kind.tensor_type if kind is not None else None
    if tensor is None or not tensor.HasField("shape"):
        return None
    if any(not d.HasField("dim_value") for d in tensor.shape.dim):
        return None
    dtype = helper.tensor_dtype_to_np_dtype(tensor.elem_type)
    size = np.dtype(dtype).itemsize
    return math.prod(d.dim_value for d in tensor.shape.dim) * size


def _split_constants(model: onnx.ModelProto) -> bool:
    """Replace Splits of constants by initializers, in place; return True if there was any.

    onnxscript folds only operators with one output.
    """
    graph = model.graph
    known = {t.name: t for t in graph.initializer}
    splits = [
        node
        for node in graph.node
        if node.op_type == "Split"
        and node.domain in ("", "ai.onnx")
        and known.keys() >= {*node.input}
    ]
    for node in splits:
        values = [external_weights.array_of(known[name]) for name in node.input]
        for name, part in zip(node.output, _parts(node, *values), strict=True):
            if name:
                like = known[node.input[0]]
                graph.initializer.append(external_weights.tensor_of(part, name, like))
        graph.node.remove(node)
    return bool(splits)


def _parts(node, x, sizes=None):
    """Split x as a Split node does, into `sizes`, or sizes of its attribute, or equal parts."""
    a = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    axis, n = a.get("axis", 0), len(node.output)
    sizes = a.get("split") if sizes is None else sizes
    if sizes is None:
        sizes = [-(-x.shape[axis] // n)] * n
    return [np.ascontiguousarray(part) for part in np.split(x, np.cumsum(sizes)[:-1], axis)]
