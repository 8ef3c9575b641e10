"""Refuse sequences that rewrites have not resolved: boards have none."""

from __future__ import annotations

from ..errors import Problem
from . import lowers


@lowers("SequenceInsert", fixes_shape=(2,))
@lowers("SequenceAt", "SequenceErase", "SplitToSequence", fixes_shape=(1,))
@lowers("ConcatFromSequence", "SequenceConstruct", "SequenceEmpty", "SequenceLength")
@lowers("Optional", "OptionalGetElement", "OptionalHasElement")
def refuse(node):
    raise Problem(
        "a sequence or optional whose contents are not known at conversion",
        "lengths and positions must be constants: --shape gives those of inputs",
    )
