"""Refuse constant scales that cannot be scales, before anything is computed with them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import numpy_helper

from ..errors import Finding, Problem, UnsupportedModel
from ..external_weights import array_of
from ..protos import bodies_of, name_of, nodes_of, operator_of

# Indexes of inputs that are scales, by operator: the operator divides by one of them.
_SCALES = {
    "QuantizeLinear": (1,),
    "QLinearConv": (1, 4, 6),
    "QLinearConvTranspose": (1, 4, 6),
    "QLinearMatMul": (1, 4, 6),
    "QGemm": (1, 4, 7),
    "QLinearAdd": (1, 4, 6),
    "QLinearMul": (1, 4, 6),
    "QLinearWhere": (2, 5, 7),
    "QLinearLeakyRelu": (1, 3),
    "QLinearSigmoid": (1, 3),
    "QLinearSoftmax": (1, 3),
    "QLinearAveragePool": (1, 3),
    "QLinearGlobalAveragePool": (1, 3),
    "QLinearReduceMean": (1, 3),
}
# Indexes of scales that only multiply, and so may be negative.
_FACTORS = {
    "DequantizeLinear": (1,),
    "DynamicQuantizeMatMul": (2,),
    "DynamicQuantizeLSTM": (8, 10),
    "MatMulIntegerToFloat": (2, 3),
    "MatMulNBits": (2,),
    "MatMulBnb4": (2,),
    "GatherBlockQuantized": (2,),
    "QAttention": (3, 4),
    "QEmbedLayerNormalization": (8, 9, 10, 11, 12),
}
_MICROSOFT = ("", "ai.onnx", "com.microsoft")


def check(model: onnx.ModelProto) -> None:
    """Refuse constant scales that are not finite, or negative though an operator divides by them.

    Raises:
        UnsupportedModel: with each node and the name of its scale.
    """
    constants = {name: t for graph in graphs_of(model.graph) for name, t in constants_of(graph)}
    findings = []
    for node in nodes_of(model.graph):
        for name, is_factor in _scales_of(node):
            if name in constants and not _is_valid(array_of(constants[name]), is_factor):
                problem = Problem(f"scale {name} is negative, infinite or not a number")
                findings.append(Finding(operator_of(node), name_of(node), problem))
    if findings:
        raise UnsupportedModel(list({str(f) + f.name: f for f in findings}.values()))


def _scales_of(node) -> Iterator[tuple[str, bool]]:
    """Yield (name, True if it only multiplies) for the inputs of a node that are scales."""
    if node.domain not in _MICROSOFT:
        return
    if node.op_type == "QLinearConcat":  # the output's first, then every third input
        indexes = range(0, len(node.input), 3)
    else:
        indexes = _SCALES.get(node.op_type, _FACTORS.get(node.op_type, ()))
    for i in indexes:
        if i < len(node.input) and node.input[i]:
            yield node.input[i], node.op_type in _FACTORS


def _is_valid(scale, is_factor):
    if scale.dtype.kind in "OSU":
        return True  # strings, which inference refuses
    values = scale.astype(np.float64)
    return bool(np.isfinite(values).all() and (is_factor or (values >= 0).all()))


def graphs_of(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and all bodies in it."""
    yield graph
    for node in graph.node:
        for body in bodies_of(node):
            yield from graphs_of(body)


def constants_of(graph: onnx.GraphProto) -> Iterator[tuple[str, onnx.TensorProto]]:
    """Yield (name, tensor) of the constants of one graph."""
    for tensor in graph.initializer:
        yield tensor.name, tensor
    for node in graph.node:
        if node.op_type == "Constant" and len(node.attribute) == 1:
            a = node.attribute[0]
            if a.name == "value":
                yield node.output[0], a.t
            elif a.name in ("value_float", "value_floats"):
                values = a.f if a.name == "value_float" else list(a.floats)
                yield node.output[0], numpy_helper.from_array(np.array(values, np.float32))
