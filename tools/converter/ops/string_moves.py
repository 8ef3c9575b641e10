"""Operators that move strings without changing them -> kernels string_pick and string_gather."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from tools.format.objects import OPEN, STRING

from ..errors import Problem
from . import lowers
from ._strings import pick_or_alias, require_fixed, set_open

ML = "ai.onnx.ml"


@lowers("Flatten", "Identity", objects=True)
@lowers("Reshape", "Squeeze", "Unsqueeze", fixes_shape=(1,), objects=True)
def lower_alias(node):
    """Strings whose number only a run knows are copied, so that they get a shape of their own."""
    x, out = node.inputs[0], node.outputs[0]
    if x.dtype != STRING or out.dtype != STRING:
        raise Problem("a map")
    if not x.is_open_object:
        node.alias(out, x)
        return
    shape = x.shape if node.op == "Identity" else out.shape
    if node.op == "Reshape" and OPEN not in shape:
        sizes = node.const(1).tolist()
        shape = tuple(x.shape[i] if d == 0 else d for i, d in enumerate(sizes))
    if shape.count(OPEN) != 1:
        raise Problem(f"strings whose number only a run knows, in shape {list(shape)}")
    set_open(out, shape)
    node.emit("string_reshape", [x], [out], dims=shape)


@lowers("Concat", "Transpose", "DepthToSpace", "SpaceToDepth", objects=True)
@lowers("Slice", fixes_shape=(1, 2, 3, 4), objects=True)
@lowers("Split", "Expand", "Tile", fixes_shape=(1,), objects=True)
@lowers("Compress", "GatherElements", "GatherND", objects=True)
def lower_moves(node):
    """Numbers in the place of the strings show where each one goes."""
    require_fixed(*node.inputs)
    strings = [x for x in node.inputs if x is not None and x.dtype == STRING]
    numbered, first = {}, 0
    for x in dict.fromkeys(strings):
        numbered[x] = np.arange(first, first + x.nelem, dtype=np.int64).reshape(x.shape)
        first += x.nelem
    values = [
        None if x is None else numbered[x] if x in numbered else node.const(i)
        for i, x in enumerate(node.inputs)
    ]
    for out, table in zip(node.outputs, _evaluate(node, values), strict=True):
        if out is not None:
            out.shape = table.shape
            pick_or_alias(node, list(numbered), table, out)


def _evaluate(node, values):
    """The node's outputs for these inputs, by onnx's reference evaluator."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    names = [f"x{i}" if v is not None else "" for i, v in enumerate(values)]
    del proto.input[:]
    proto.input.extend(names)
    outputs = [f"y{i}" if name else "" for i, name in enumerate(proto.output)]
    del proto.output[:]
    proto.output.extend(outputs)
    given = {n: np.asarray(v) for n, v in zip(names, values, strict=True) if n}
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for n, v in given.items()
    ]
    outs = [helper.make_tensor_value_info(n, onnx.TensorProto.INT64, None) for n in outputs if n]
    graph = helper.make_graph([proto], "moves", infos, outs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", node.opset)])
    found = iter(ReferenceEvaluator(model).run(None, given))
    return [next(found) if n else None for n in outputs]


@lowers("Gather", objects=True)
def lower_gather(node):
    x, index = node.inputs
    if index.data is not None:
        lower_moves(node)
        return
    require_fixed(x)
    _emit_gather(node, x, index, node.outputs[0], node.attr("axis", 0) % len(x.shape))


@lowers("ArrayFeatureExtractor", domain=ML, objects=True)
def lower_extractor(node):
    """Items of the last axis."""
    x, index = node.inputs
    require_fixed(x)
    _emit_gather(node, x, index, node.outputs[0], len(x.shape) - 1)


def _emit_gather(node, x, index, out, axis):
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    node.emit("string_gather", [x, index], [out], outer=outer, n=x.shape[axis], inner=inner)
