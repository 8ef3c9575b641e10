"""Makes the graph simple and explicit; it keeps its meaning in ONNX. One pass a file.

Shapes inferred, constants folded, sequences resolved, functions inlined: what a lowering or a
rewrite can then rely on. What makes a graph faster is in rewrites/.
"""

from __future__ import annotations

import onnx

from ..context import PLAIN, Context
from ..shapes.infer import infer
from . import cast_like, expand, fold, sequences

_MAX_ROUNDS = 8  # each takes out the Shape of what the one before has given a shape


def simplify(model: onnx.ModelProto, context: Context = PLAIN) -> onnx.ModelProto:
    """Shapes inferred, constants folded, sequences resolved, functions inlined that need it."""
    model = _settled(sequences.resolve(infer(model, context), context), context)
    for _ in range(_MAX_ROUNDS):
        changed = expand.expand(sequences.resolve(model, context), context)
        if changed is model:
            break
        model = _settled(changed, context)
    return model


def _settled(model, context):
    """Inference and folding in turn, until no Shape goes away any more; with all types."""
    left = None
    for _ in range(_MAX_ROUNDS):
        model = fold.fold(cast_like.to_cast(infer(model, context)), context)
        del model.graph.value_info[:]  # what is inferred anew may have become known
        before, left = left, sum(node.op_type in ("Shape", "Size") for node in model.graph.node)
        if left in (0, before):
            break
    return infer(model, context)
