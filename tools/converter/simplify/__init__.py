"""Makes the graph simple and explicit; it keeps its meaning in ONNX. One pass a file.

Shapes inferred, constants folded, sequences resolved, functions inlined: what a lowering or a
rewrite can then rely on. What makes a graph faster is in rewrites/.
"""

from __future__ import annotations

import onnx

from .. import verify
from ..context import PLAIN, Context
from ..shapes import declarations
from ..shapes.infer import infer
from . import cast_like, expand, fold, sequences

_MAX_ROUNDS = 8  # each takes out the Shape of what the one before has given a shape


def simplify(model: onnx.ModelProto, context: Context = PLAIN) -> onnx.ModelProto:
    """Shapes inferred, constants folded, sequences resolved, functions inlined that need it."""
    model = infer(model, context)
    resolved = _resolved(model, context)
    model = _settled(model if resolved is model else infer(resolved, context), context)
    for _ in range(_MAX_ROUNDS):
        resolved = _resolved(model, context)
        changed = verify.passed(resolved, expand.expand(resolved, context), "expand")
        if changed is model:
            break
        # what was expanded has its types already
        model = _settled(infer(changed, context) if changed is resolved else changed, context)
    return model


def _resolved(model, context):
    return verify.passed(model, sequences.resolve(model, context), "sequences")


def _settled(model, context):
    """Folding and inference in turn, until no Shape goes away any more. model: with all types."""
    left = None
    for _ in range(_MAX_ROUNDS):
        folded = verify.passed(model, fold.fold(cast_like.to_cast(model), context), "fold")
        if folded is model:
            break
        declarations.forget_inner(folded)  # what is inferred anew may have become known
        model = infer(folded, context)
        before, left = left, sum(node.op_type in ("Shape", "Size") for node in model.graph.node)
        if left in (0, before):
            break
    return model
