"""Simplify a graph in ONNX's own terms, so that lowerings and rewrites find less to handle.

Afterwards shapes are inferred, constants folded, sequences resolved, and functions without a
lowering inlined. One pass per file. What makes a graph faster belongs to rewrites/.
"""

from __future__ import annotations

import onnx
from onnx import helper

from .. import verify
from ..context import PLAIN, Context
from ..shapes import declarations
from ..shapes.infer import infer
from . import expand, fold, sequences

_MAX_ROUNDS = 8  # a round folds the Shapes of values that the round before inferred


def simplify(model: onnx.ModelProto, context: Context = PLAIN) -> onnx.ModelProto:
    """Infer shapes, fold constants, resolve sequences, inline functions until all is settled."""
    model = infer(model, context)
    resolved = _resolve_sequences(model, context)
    model = _fold_constants(model if resolved is model else infer(resolved, context), context)
    for _ in range(_MAX_ROUNDS):
        resolved = _resolve_sequences(model, context)
        expanded = verify.passed(resolved, expand.expand(resolved, context), "expand")
        if expanded is model:
            break
        is_inferred = expanded is not resolved  # expand infers the types of what it inlines
        model = _fold_constants(expanded if is_inferred else infer(expanded, context), context)
    return model


def _resolve_sequences(model, context):
    return verify.passed(model, sequences.resolve(model, context), "sequences")


def _fold_constants(model, context):
    """Fold constants and infer types in turn, until the number of Shape and Size nodes settles."""
    left = None
    for _ in range(_MAX_ROUNDS):
        folded = verify.passed(model, fold.fold(_replace_cast_like(model), context), "fold")
        if folded is model:
            break
        declarations.forget_inner(folded)  # inference may know them better now
        model = infer(folded, context)
        before, left = left, sum(node.op_type in ("Shape", "Size") for node in model.graph.node)
        if left in (0, before):
            break
    return model


def _replace_cast_like(model: onnx.ModelProto) -> onnx.ModelProto:
    """Replace each CastLike to a known dtype by a Cast, in place.

    onnxscript's folding does that too, but loses the attribute saturate.
    """
    graph = model.graph
    dtypes = {t.name: t.data_type for t in graph.initializer}
    for info in [*graph.input, *graph.value_info, *graph.output]:
        dtypes[info.name] = info.type.tensor_type.elem_type
    for node in graph.node:
        is_cast = node.op_type == "CastLike" and node.domain in ("", "ai.onnx")
        if is_cast and dtypes.get(node.input[1]):
            node.op_type = "Cast"
            node.attribute.append(helper.make_attribute("to", dtypes[node.input[1]]))
            del node.input[1]
    return model
