"""Find operators without a kernel, as far as that is known before shapes are inferred."""

from __future__ import annotations

from contextlib import suppress

import onnx

from ..context import Context
from ..errors import ConvertError, Finding, Problem
from ..own import Operators
from ..protos import name_of, nodes_of, operator_of, opset_of
from ..shapes import infer
from ..simplify import expand, ms_bodies, sequences


def operators(model: onnx.ModelProto, context: Context) -> list[Finding]:
    """Return a finding for each node without a lowering, a function body or a rewrite."""
    with suppress(ConvertError):  # shapes that contradict each other
        model = expand.expand(infer.infer(model, context), context)
    return [
        Finding(
            f"{operator_of(node)} (opset {opset_of(model, node.domain)})",
            name_of(node),
            problem_of(node, context.operators),
        )
        for node in nodes_of(model.graph)
        if not context.operators.lowering_of(node.domain, node.op_type)
        and node.op_type not in sequences.OPERATORS
    ]


def problem_of(node: onnx.NodeProto, operators: Operators) -> Problem:
    """Return the Problem of a node that no lowering serves, with advice for the user."""
    reason = ms_bodies.reason_of(node) or "this operator has no kernel"
    return Problem(reason, operators.hint(node.domain, node.op_type))


def not_allowed(model: onnx.ModelProto, operators: Operators) -> list[str]:
    """Return a note for each domain that --ops has kernels for, but that is not allowed."""
    refused: dict[str, set[str]] = {}
    for graph in (model.graph, *model.functions):
        for node in nodes_of(graph):
            if operators.is_refused(node.domain, node.op_type):
                refused.setdefault(node.domain or "ai.onnx", set()).add(node.op_type)
    return [
        f"--ops has kernels for {', '.join(sorted(names))} of {domain}, which are not used: "
        f"--allow-domain {domain} uses them"
        for domain, names in refused.items()
    ]
