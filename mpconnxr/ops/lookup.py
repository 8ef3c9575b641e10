"""lookup: each byte of x chooses an entry of a table.

    out[i] = table[x[i] & 255]

Serves mpconnxr:Lookup, which stands for all that follows from one tensor of 8-bit integers element
by element: DQ -> Sigmoid -> Q, other scales, activations.

    x      any dtype of one byte
    table  any dtype of 1 or 4 bytes, 256 items, those of negative x last
    out    of the table's dtype, as many items as x; may be the same memory if a byte each
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..node import block
from .inline import Items

_CODES = {1: "B", 4: "i"}
_ENTRIES = 256


def prepare(node):
    node.expect(2, 1, 0)
    x, table, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype(table.dtype, out)
    node.require(table.nelem == _ENTRIES, "size of the table")
    node.require(x.nbytes == x.nelem == out.nelem, "x of dtype {} or size".format(x.dtype))
    size = table.nbytes // _ENTRIES
    node.require(size in _CODES, "table of dtype " + table.dtype)
    loops = forms.get("loops_lookup")
    loop = loops.lookup8 if size == 1 else loops.lookup32
    code = _CODES[size]
    p = block(0, 0)
    return x.nelem, Items(loop, x.view("B"), table.view(code), out.view(code), p).step
