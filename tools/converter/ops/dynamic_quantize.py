"""DynamicQuantizeLinear -> kernel dynamic_quantize."""

from __future__ import annotations

from ..steps.overlap import item_by_item
from . import lowers

FLOAT = 1


@lowers("DynamicQuantizeLinear")
def lower_dynamic_quantize(node):
    node.require_dtype(FLOAT)
    x, outputs = node.inputs[0], list(node.outputs)
    cells = node.temp(FLOAT, (3,))
    over = item_by_item(outputs[0], [x])
    node.emit("dynamic_quantize", [x], outputs, scratch=[cells], over=over)
