"""Rewrites of the ONNX graph before lowering, one a file."""

from __future__ import annotations

import onnx

from ..shapes import infer
from . import cast_like, expand, fold, keep, sequences

_MARK = "mpconnxr."  # begins the keys of metadata that passes add
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


def without_marks(model: onnx.ModelProto) -> onnx.ModelProto:
    """A copy without what the passes have written down in it for themselves."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    metadata = [p for p in copy.metadata_props if not p.key.startswith(_MARK)]
    domains = {node.domain for node in copy.graph.node}
    opsets = [o for o in copy.opset_import if o.domain != keep.DOMAIN or o.domain in domains]
    del copy.metadata_props[:], copy.opset_import[:]
    copy.metadata_props.extend(metadata)
    copy.opset_import.extend(opsets)
    return copy


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
