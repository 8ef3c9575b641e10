"""Say which operators compute in float although --quantize was requested, and why.

rewrites/qdq has the reasons for nodes that read dequantized integers. Here are those for all
others: nodes that onnxruntime's quantizer does not take, and nodes in bodies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import onnx

from .. import stays_float
from ..numbers.narrow import RECURRENT
from ..protos import bodies_of, name_of, operator_of
from .settings import Settings

_FLOATS = (
    onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16,
    onnx.TensorProto.DOUBLE,
)  # fmt: skip
# Operators that move, choose or compare values, or convert them between floats and integers.
_WITHOUT_ARITHMETIC = """ArgMax ArgMin Cast CastLike Compress Concat ConvInteger DepthToSpace
    DequantizeLinear Dropout DynamicQuantizeLSTM DynamicQuantizeLinear DynamicQuantizeMatMul
    Equal Expand
    Flatten Gather GatherElements GatherND GlobalMaxPool Greater GreaterOrEqual Identity If
    IsInf IsNaN Less LessOrEqual Loop MatMulInteger MatMulIntegerToFloat Max MaxPool Min
    NonZero OneHot Pad QLinearConv QuantizeLinear ReduceMax ReduceMin Reshape ReverseSequence
    Scan Scatter ScatterElements ScatterND Shape Sign Size Slice SpaceToDepth Split Squeeze
    Tile ToFloat TopK Transpose Trilu Unique Unsqueeze Where"""
_NO_ARITHMETIC = frozenset(_WITHOUT_ARITHMETIC.split())
_ROUNDED = ("Conv", "ConvTranspose", "GRU", "Gemm", "LSTM", "MatMul", "RNN")  # by --weights


def notes(
    model: onnx.ModelProto, settings: Settings, known: Mapping[str, str], rounds_weights: bool
) -> list[str]:
    """Return lines on the nodes that compute in float and read no dequantized activation.

    Args:
        model: the quantized and rewritten model, with its types.
        settings: those of the quantization.
        known: reasons by name of a node, as those of `reasons`.
        rounds_weights: --weights rounds weights that stay in float.
    """
    rows = []
    constants = {t.name for t in model.graph.initializer}
    for node, is_inner in _computing(model.graph):
        has_weights = node.op_type in _ROUNDED and not constants.isdisjoint(node.input[1:3])
        reason = known.get(node.name) or _reason(node, settings, is_inner, has_weights)
        if has_weights and node.op_type in RECURRENT and name_of(node) not in known:
            reason += "; its weights have 8 bits"
        elif has_weights and not rounds_weights:
            reason += "; --weights int8 rounds its weights to 8 bits"
        rows.append((name_of(node), operator_of(node), reason))
    return stays_float.lines(rows)


def _computing(graph: onnx.GraphProto) -> Iterator[tuple[onnx.NodeProto, bool]]:
    """Yield (node, it is in a body) for the nodes that compute in float."""
    constants = {t.name for t in graph.initializer}
    # scales, which DynamicQuantizeLinear computes, and what rewrites/qdq speaks of
    others = {
        name
        for node in graph.node
        if node.op_type in ("DequantizeLinear", "DynamicQuantizeLinear")
        and node.input[0] not in constants
        for name in node.output
    }
    yield from _in_graph(graph, _float_values(graph), others, False)


def _in_graph(graph, floats, others, is_inner):
    floats = floats | _float_values(graph)
    for node in graph.node:
        is_arithmetic = node.op_type not in _NO_ARITHMETIC
        if is_arithmetic and not floats.isdisjoint(node.input) and others.isdisjoint(node.input):
            yield node, is_inner
        for body in bodies_of(node):
            yield from _in_graph(body, floats, others, True)


def _float_values(graph):
    """Return the names of the float values that a run computes or takes."""
    constants = {t.name for t in graph.initializer}
    infos = [*graph.input, *graph.value_info, *graph.output]
    floats = {v.name for v in infos if v.type.tensor_type.elem_type in _FLOATS}
    return floats - constants


def _reason(node: onnx.NodeProto, settings: Settings, is_inner: bool, has_weights: bool) -> str:
    mode = f"--quantize {settings.mode}"
    if is_inner:
        return f"{mode} changes nothing inside of an If, Loop or Scan"
    if settings.mode == "dynamic" and not has_weights:
        return f"{mode} makes integers of products with weights alone"
    if node.op_type == "LSTM" and settings.mode != "dynamic":
        return f"{mode} quantizes no LSTM, but --quantize dynamic does"
    return f"{mode} quantizes no such operator"


def reasons(
    requested: Collection[str], unfit: Collection[str], chosen: Collection[str]
) -> Mapping[str, str]:
    """Return by name of a node why the quantizer was not given it.

    Args:
        requested: those that --exclude names.
        unfit: those whose biases no quantized operator takes.
        chosen: all that were excluded in the end.
    """
    known = dict.fromkeys(chosen, "it was too noisy for --min-accuracy-drop")
    known |= dict.fromkeys(unfit, "integers cannot have its biases, of groups or by row")
    return known | dict.fromkeys(requested, "--exclude names it")
