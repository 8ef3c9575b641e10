"""Given (see simplify/keep.py) -> kernel given."""

from __future__ import annotations

from ..simplify.keep import DOMAIN
from . import lowers


def _infer(node):
    return [(node.attr("to"), ())]


@lowers("Given", domain=DOMAIN, infer=_infer)
@lowers("Given", domain=DOMAIN, infer=_infer, objects=True)
def lower_given(node):
    node.emit("given", node.inputs, [node.outputs[0]])
