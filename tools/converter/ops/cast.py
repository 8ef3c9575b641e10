"""Cast and CastLike -> kernel cast."""

from __future__ import annotations

from . import lowers


@lowers("Cast", "CastLike")
def lower_cast(node):
    x, out = node.inputs[0], node.outputs[0]
    if x.dtype == out.dtype:
        node.alias(out, x)
    else:
        node.emit("cast", [x], [out], [])
