"""Find the nodes that cannot follow sizes that each run decides, by lowering the model once."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from .. import lower as lowering
from .. import rewrites
from ..context import Context
from ..errors import UnsupportedModel
from ..rewrites import Rewrite


def nodes_that_cannot_follow(
    model: onnx.ModelProto,
    twin: onnx.ModelProto,
    for_boards: Sequence[Rewrite],
    context: Context,
) -> frozenset[str]:
    """Return the names of nodes that cannot be lowered for sizes that each run decides.

    Args:
        model: the rewritten model.
        twin: the model with other bounds of these sizes.
        for_boards: the rewrites that come before lowering.
        context: context of the conversion.
    """
    both = [rewrites.run(one, for_boards, context)[0] for one in (model, twin)]
    try:
        lowering.lower(*both, context)
    except UnsupportedModel as e:
        return frozenset(finding.name for finding in e.findings)
    return frozenset()
