"""Replace regions between DequantizeLinear and QuantizeLinear by integer operators.

1. Q moves up and DQ moves down past operators that only move elements (qdq_hoist, qdq_sink).
2. What follows from one tensor of bytes element by element becomes a table (qdq_lookup).
3. DQ -> operator -> Q becomes one operator of integers (qdq_conv, qdq_transposed, qdq_matmul,
   qdq_pool, qdq_resize, qdq_elementwise, qdq_normalize), of 16 bits too (qdq_wide).
4. What scales an integer product becomes one operator (qdq_dynamic).
5. Constants are quantized at conversion, and what is dequantized of them after all that becomes
   float (qdq_weights).

What has no integer form stays as it is, and notes() says why.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx

from .. import verify
from ..context import Context
from ..errors import Problem
from ..ir import dtype_name
from ..protos import copied
from ..shapes import infer
from ..simplify import fold
from . import qdq_wide
from .qdq_conv import fuse_conv
from .qdq_dynamic import scale_products
from .qdq_elementwise import fuse_binary, fuse_softmax, scale_scores
from .qdq_functions import OWN
from .qdq_graph import Graph
from .qdq_hoist import hoist
from .qdq_lookup import lookup
from .qdq_matmul import fuse_gemm, fuse_matmul
from .qdq_normalize import fuse_deviation, fuse_normalize
from .qdq_pool import fuse_mean
from .qdq_resize import fuse_resize
from .qdq_sink import MOVES, sink
from .qdq_terms import BYTES, StaysFloat, is_dq, is_q
from .qdq_transposed import fuse_conv_transpose
from .qdq_weights import compute_constants, unquantize

_FUSED: dict[str, Callable[[Graph, onnx.NodeProto], None]] = {
    "Add": fuse_binary,
    "AveragePool": fuse_mean,
    "Conv": fuse_conv,
    "ConvTranspose": fuse_conv_transpose,
    "Div": fuse_deviation,
    "Gemm": fuse_gemm,
    "GlobalAveragePool": fuse_mean,
    "LayerNormalization": fuse_normalize,
    "MatMul": fuse_matmul,
    "Mul": fuse_binary,
    "ReduceMean": fuse_mean,
    "Resize": fuse_resize,
    "Softmax": fuse_softmax,
    "Sub": fuse_binary,
    "Sum": fuse_binary,
}
_RULES = (compute_constants, hoist, sink, scale_scores, lookup)
_QUANTIZED = {"QuantizeLinear", "DequantizeLinear", "MatMulInteger", "ConvInteger"}
_STAYS = "stays in float: "
_LEVEL_WITHOUT = 0  # of --optimize, which leaves these rules out
_MAX_ROUNDS = 8  # each leaves what the next one may use


def rewrite(model: onnx.ModelProto, context: Context) -> tuple[onnx.ModelProto, int]:
    """Applies the rules until none finds anything. Returns a model, and how many nodes went."""
    original, model = model, copied(model)
    invented: set[str] = set()
    for _ in range(_MAX_ROUNDS):
        graph = Graph(model, invented, context.floats)
        done = [_applied(rule, graph) for rule in (*_RULES, _fuse, scale_products)]
        if not any(done):
            break
        graph.finish()
        model = infer.infer(fold.fold(model, context), context)
        verify.passed(original, model, "qdq", _LEVEL_WITHOUT)
    _say_why(model, context)
    if unquantize(model):
        model = infer.infer(model, context)
    verify.passed(original, model, "qdq", _LEVEL_WITHOUT)
    return model, max(len(original.graph.node) - len(model.graph.node), 0)


def _applied(rule: Callable[[Graph], bool], graph: Graph) -> bool:
    """Apply a rule, and verify the graph that it leaves where all passes are verified."""
    changed = rule(graph)
    if changed and verify.is_thorough():
        model, name = graph.message(), f"qdq ({rule.__name__.strip('_')})"
        verify.check_graph(model.graph, name, _LEVEL_WITHOUT, graph.model.graph)
        verify.check_types(model, graph.model, name, _LEVEL_WITHOUT)
    return changed


def may_have_norms(model: onnx.ModelProto) -> bool:
    """Return True for a quantized model that may compute layer normalization in parts."""
    return is_quantized(model) and any(node.op_type == "Sqrt" for node in model.graph.node)


def is_quantized(model: onnx.ModelProto) -> bool:
    """Return True if the model has operators of quantized values."""
    return any(node.op_type in _QUANTIZED for node in model.graph.node)


def _fuse(graph):
    changed = False
    for node in graph.nodes.copy():
        fuse = _fuse_of(graph, node)
        if fuse is None:
            continue
        try:
            fuse(graph, node)
            changed = True
        except (StaysFloat, Problem):
            continue
    return changed


def _fuse_of(graph, node):
    """What makes an integer operator of a node; None where nothing does."""
    if graph.stays_float(node):
        return _refuse
    is_known = is_q(node) or node.domain in ("", "ai.onnx") or _is_own_norm(node)
    if not is_known or not _is_there(graph, node):
        return None
    return (qdq_wide.FUSED if qdq_wide.is_wide(graph, node) else _FUSED).get(node.op_type)


def _refuse(graph, node):
    raise StaysFloat("its integer form cannot follow a size that each run decides")


def _is_own_norm(node):
    """What layer_norm writes before opset 17."""
    return node.domain == OWN and node.op_type == "LayerNormalization"


def _is_there(graph, node):
    return graph.producer(node.output[0]) is node


def _say_why(model, context):
    """Writes the reason into each node that stays in float: floats of weights would hide it."""
    copy = copied(model)
    graph = Graph(copy, floats=context.floats)
    why = [_reason(graph, n) if _stays(graph, n) else "" for n in copy.graph.node]
    for node, reason in zip(model.graph.node, why, strict=True):
        node.doc_string = _STAYS + reason if reason else node.doc_string


def notes(model: onnx.ModelProto) -> list[str]:
    """For each node that computes in float on what was integers: why."""
    graph, found = Graph(model), []
    for node in model.graph.node:
        if _stays(graph, node):
            known = node.doc_string.startswith(_STAYS)
            why = node.doc_string if known else _STAYS + _reason(graph, node)
            found.append(f"{node.name or node.output[0]} ({node.op_type}) {why}")
    return found


def _stays(graph, node):
    return not is_q(node) and any(_is_activation(graph, name) for name in node.input)


def _is_activation(graph, name):
    node = graph.producer(name)
    return is_dq(node) and graph.array(node.input[0]) is None


def _reason(graph, node):
    fuse = _fuse_of(graph, node)
    if fuse is None:
        q = next(filter(None, map(graph.dequantized, node.input)), None)
        about = f" of {dtype_name(q.dtype)}" if q and q.dtype not in BYTES else ""
        if q and not about and node.op_type in MOVES and not graph.takes(node.op_type, q.dtype):
            about = f" at opset {graph.opset}"
        return f"{node.op_type} has no integer form{about}"
    try:
        fuse(graph, node)
    except (StaysFloat, Problem) as e:
        return str(e)
    return "it was not reached"
