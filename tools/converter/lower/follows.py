"""Which nodes cannot follow sizes that each run decides: found by lowering the model once."""

from __future__ import annotations

import onnx

from .. import lower as lowering
from .. import rewrites
from ..context import Context
from ..errors import UnsupportedModel


def stuck(
    model: onnx.ModelProto, twin: onnx.ModelProto, level: int, context: Context
) -> frozenset[str]:
    """Return the names of the nodes for which a model and its twin would be refused.

    Both are rewritten; level is that of --optimize.
    """
    both = [rewrites.for_boards(one, level, context)[0] for one in (model, twin)]
    try:
        lowering.lower(*both, context)
    except UnsupportedModel as e:
        return frozenset(finding.name for finding in e.findings)
    return frozenset()
