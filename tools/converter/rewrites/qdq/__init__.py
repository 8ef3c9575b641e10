"""Replace regions between DequantizeLinear and QuantizeLinear by integer operators.

1. QuantizeLinear moves up and DequantizeLinear moves down past operators that only move elements
   (hoist, sink).
2. Element-wise functions of one tensor of bytes become a table (lookup).
3. DequantizeLinear -> operator -> QuantizeLinear becomes one operator of integers (conv, matmul,
   pool, resize, elementwise, normalize), also of 16 bits (wide).
4. The scaling of an integer product becomes one operator (dynamic).
5. Constants are quantized at conversion; constants that are still dequantized at the end become
   floats (weights).

A node without an integer form stays as it is, and notes() says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import onnx
import onnx_ir as ir

from ... import stays_float, verify
from ...context import Context
from ...errors import Problem
from ...ir import dtype_name
from ...ir_weights import from_ir
from ...shapes import infer
from ...simplify import fold, maps
from .. import _graph as g
from . import wide
from ._edit import Edit
from ._values import BYTES, StaysFloat, array_of, dequantized, is_dq, is_q, takes
from .conv import fuse_conv, fuse_conv_transpose
from .dynamic import scale_products
from .elementwise import fuse_binary, fuse_softmax, scale_scores
from .hoist import hoist
from .lookup import lookup
from .matmul import fuse_gemm, fuse_matmul
from .normalize import fuse_deviation, fuse_normalize
from .pool import fuse_mean
from .resize import fuse_resize
from .sink import MOVES, sink
from .weights import compute_constants, unquantize

_FUSED: dict[str, Callable[[Edit, ir.Node], None]] = {
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
_REASON = "mpconnxr.stays_float"  # key of metadata: why a node has no integer form
_LEVEL_WITHOUT = 0  # of --optimize, which leaves these rules out
_MAX_ROUNDS = 8  # each leaves what the next one may use


def is_quantized(model: onnx.ModelProto) -> bool:
    """Return True if the model has operators of quantized values."""
    return any(node.op_type in _QUANTIZED for node in model.graph.node)


def may_have_norms(model: onnx.ModelProto) -> bool:
    """Return True for a quantized model that may compute layer normalization in parts."""
    return is_quantized(model) and any(node.op_type == "Sqrt" for node in model.graph.node)


def rewrite(model: onnx.ModelProto, context: Context) -> tuple[onnx.ModelProto, int]:
    """Apply the rules until none changes anything.

    Args:
        model: the model, with all types; not changed.
        context: context of the conversion.

    Returns:
        The rewritten model, with all types, and the number of nodes that it has less.

    Raises:
        InternalError: if a rule leaves an invalid graph.
    """
    original, invented = model, set()
    for _ in range(_MAX_ROUNDS):
        edit, removed_maps = _edit_of(model, context, invented)
        if not _apply_all(edit):
            break
        model = infer.infer(fold.fold(_message(edit, removed_maps), context), context)
        verify.passed(original, model, "qdq", _LEVEL_WITHOUT)
    else:
        edit, removed_maps = _edit_of(model, context, invented)
    has_reasons = _write_reasons(edit, context)
    if unquantize(edit) or has_reasons:
        model = infer.infer(_message(edit, removed_maps), context)
    verify.passed(original, model, "qdq", _LEVEL_WITHOUT)
    return model, max(len(original.graph.node) - len(model.graph.node), 0)


def _edit_of(model, context, invented):
    proto, removed_maps = maps.remove_maps(model)
    return Edit(proto, invented, context.floats), removed_maps


def _message(edit, removed_maps):
    """Return the changed model, without types."""
    edit.finish()
    model = maps.restore_maps(from_ir(edit.model), removed_maps)
    del model.graph.value_info[:]
    return model


def _apply_all(edit):
    """Apply all rules, and verify the graph that each leaves where all passes are verified."""
    changed = False
    for rule in (*_RULES, _fuse, scale_products):
        if rule(edit):
            changed = True
            if verify.is_thorough():
                name = f"qdq ({rule.__name__.strip('_')})"
                verify.check_graph(edit.graph, name, _LEVEL_WITHOUT, edit.original.graph)
                made = from_ir(edit.model)
                verify.check_types(made, edit.original, name, _LEVEL_WITHOUT)
    return changed


def _fuse(edit):
    changed = False
    for node in list(edit.graph):
        fuse = _fuse_of(edit, node)
        if fuse is None:
            continue
        try:
            fuse(edit, node)
            changed = True
        except (StaysFloat, Problem):
            continue
    return changed


def _fuse_of(edit, node):
    """Return the rule that makes an integer operator of a node; None without one."""
    if edit.stays_float(node):
        return _refuse
    is_known = is_q(node) or not node.domain or _is_own_norm(node)
    if not is_known or node.graph is not edit.graph:
        return None
    return (wide.FUSED if wide.is_wide(node) else _FUSED).get(node.op_type)


def _refuse(edit, node):
    raise StaysFloat("its integer form cannot follow a size that each run decides")


def _is_own_norm(node):
    """Return True for a LayerNormalization that rewrite layer_norm has made, before opset 17."""
    return g.is_op(node, "LayerNormalization", domain=g.OWN)


def _write_reasons(edit, context):
    """Write into each node that stays in float the reason for the report.

    A later pass may round the weights to floats, and the reason would no longer show.

    Args:
        edit: the last round, in which no rule changed anything.
        context: context of the conversion.

    Returns:
        True if there are such nodes.
    """
    nodes = list(edit.graph)
    if not any(map(_stays, nodes)):
        return False
    probe = Edit(edit.original, floats=context.floats)  # which the rules may change
    for node, tried in zip(nodes, list(probe.graph), strict=True):
        if _stays(tried):
            node.metadata_props[_REASON] = _reason(probe, tried)
    return True


def notes(model: onnx.ModelProto, reasons: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return a line for each node that computes in float on what was integers: why.

    Args:
        model: the rewritten model.
        reasons: those that are known already, by name of a node.
    """
    floats = {node.output[0] for node in model.graph.node if node.op_type == "DequantizeLinear"}
    if not any(floats.intersection(node.input) for node in model.graph.node):
        return []
    edit, rows = Edit(maps.remove_maps(model)[0]), []
    for node in list(edit.graph):
        if _stays(node):
            name, op_type = node.name or node.outputs[0].name, node.op_type
            reason = reasons.get(name) or node.metadata_props.get(_REASON) or _reason(edit, node)
            rows.append((name, op_type, reason))
    return stays_float.lines(rows)


def _stays(node):
    return not is_q(node) and any(_is_activation(value) for value in node.inputs)


def _is_activation(value):
    node = None if value is None else value.producer()
    return is_dq(node) and array_of(node.inputs[0]) is None


def _reason(edit, node):
    fuse = _fuse_of(edit, node)
    if fuse is None:
        q = next(filter(None, map(dequantized, node.inputs)), None)
        about = f" of {dtype_name(q.dtype)}" if q and q.dtype not in BYTES else ""
        if q and not about and node.op_type in MOVES:
            about = "" if takes(node.op_type, edit.opset, q.dtype) else f" at opset {edit.opset}"
        return f"{node.op_type} has no integer form{about}"
    try:
        fuse(edit, node)
    except (StaysFloat, Problem) as e:
        return str(e)
    return "it was not reached"
