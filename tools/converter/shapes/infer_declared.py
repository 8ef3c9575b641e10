"""Infer the outputs of operators whose lowering has a rule: com.microsoft's, and a user's own."""

from __future__ import annotations

import onnx

from ..context import Context
from ..errors import ConvertError, Problem
from ..external_weights import array_of
from ..ir import Tensor
from ..protos import opset_of
from . import extent
from .signature import Signature
from .types import declare_new, known_values


def annotate(model: onnx.ModelProto, context: Context) -> bool:
    """Declare those operators' outputs that can be inferred now; return True if any was added.

    Raises:
        ConvertError: if a rule finds that the inputs do not fit.
    """
    graph = model.graph
    rules = [(node, rule) for node in graph.node if (rule := _rule_of(node, context.operators))]
    if not rules:
        return False
    known = known_values(graph)
    data = {t.name: t for t in graph.initializer}
    changed = False
    for node, rule in rules:
        inputs = [name for name in node.input if name]
        unknown = [name for name in node.output if name and name not in known]
        if unknown and all(name in known for name in inputs):
            values = _apply(model, node, rule, known, data)
            changed |= declare_new(graph, node, map(_value, values), known)
    return changed


def _value(result):
    """Return a rule's result as a type, None if a dim is unknown."""
    dtype, dims = result
    return None if None in dims else (dtype, [extent.kept(d) for d in dims])


def _rule_of(node, operators):
    lowering = operators.lowering_of(node.domain, node.op_type)
    return lowering and lowering.infer


def _apply(model, node, rule, known, data):
    inputs = [_tensor(name, known, data) if name else None for name in node.input]
    try:
        return rule(Signature(node, opset_of(model, node.domain), inputs))
    except Problem as e:
        raise ConvertError(f"{node.domain}::{node.op_type} {node.name}: {e.reason}") from None


def _tensor(name, known, data):
    dtype, dims = known[name]
    values = array_of(data[name]) if name in data else None
    return Tensor(name, dtype, tuple(dims), values)
