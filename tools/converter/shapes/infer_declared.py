"""Shapes and dtypes of operators whose lowering says them: com.microsoft's, and a user's own."""

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
    """Adds what can be said now of these operators' outputs; True if there was anything to add.

    Raises ConvertError where a rule finds that the inputs do not fit.
    """
    graph = model.graph
    todo = [(node, rule) for node in graph.node if (rule := _rule_of(node, context.operators))]
    if not todo:
        return False
    known = known_values(graph)
    data = {t.name: t for t in graph.initializer}
    changed = False
    for node, rule in todo:
        given = [name for name in node.input if name]
        wanted = [name for name in node.output if name and name not in known]
        if wanted and all(name in known for name in given):
            values = _apply(model, node, rule, known, data)
            changed |= declare_new(graph, node, map(_value, values), known)
    return changed


def _value(found):
    """A rule's result; None where not all of its dims are known."""
    dtype, dims = found
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
