"""Rewrites of the ONNX graph before lowering, one a file."""

from __future__ import annotations

import onnx

from . import cast_like, expand, fold, infer, sequences

_MAX_ROUNDS = 8  # each takes out the Shape of what the one before has given a shape


def simplify(model: onnx.ModelProto) -> onnx.ModelProto:
    """Shapes inferred, constants folded, sequences resolved, functions inlined that need it."""
    model = _settled(sequences.resolve(infer.infer(model)))
    for _ in range(_MAX_ROUNDS):
        changed = expand.expand(sequences.resolve(model))
        if changed is model:
            break
        model = _settled(changed)
    return model


def _settled(model):
    """Inference and folding in turn, until no Shape goes away any more; with all types."""
    left = None
    for _ in range(_MAX_ROUNDS):
        model = fold.fold(cast_like.to_cast(infer.infer(model)))
        del model.graph.value_info[:]  # what is inferred anew may have become known
        before, left = left, sum(node.op_type in ("Shape", "Size") for node in model.graph.node)
        if left in (0, before):
            break
    return infer.infer(model)
