"""mpconnxr:Lookup, which rewrites of quantized models make -> kernel lookup."""

from __future__ import annotations

from ..errors import Problem
from ..steps.overlap import item_by_item
from . import lowers

OWN = "mpconnxr"
ENTRIES = 256


def _infer(node):
    return [(node.inputs[1].dtype, node.inputs[0].shape)]


@lowers("Lookup", domain=OWN, infer=_infer)
def lower_lookup(node):
    """x is a tensor of bytes; the table has an entry for each, in order of their bits."""
    x, table = node.inputs
    if x.itemsize != 1 or table.nelem != ENTRIES or table.itemsize not in (1, 4):
        raise Problem(f"{x} by table {table}")
    out = node.outputs[0]
    node.emit("lookup", [x, table], [out], over=item_by_item(out, [x]))
