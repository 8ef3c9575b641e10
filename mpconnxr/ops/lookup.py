"""lookup: each byte of x chooses an entry of a table.

    out[i] = table[x[i] & 255]

Serves mpconnxr:Lookup, which stands for all that follows from one tensor of 8-bit integers element
by element: DQ -> Sigmoid -> Q, other scales, activations.

    x      any dtype of one byte
    table  any dtype of 1 or 4 bytes, 256 items, those of negative x last; or, with scratch, uint8:
           the steps from item to item in few bits (see loops/steps)
    out    of the table's dtype (of any dtype of a byte, if that is made of steps), as many items
           as x; may be the same memory if a byte each
    scratch  uint8, 256: the table that is made of steps
    params bits of a step, where the first item lies, that item; none without scratch
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import block
from ._inline import Items

_CODES = {1: "B", 4: "i"}
_ENTRIES = 256


def prepare(node):
    is_made = len(node.scratch) == 1
    node.expect(2, 1, 3 if is_made else 0, 1 if is_made else 0)
    x, table, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.require(x.nbytes == x.nelem == out.nelem, "x of dtype {} or size".format(x.dtype))
    if is_made:
        return x.nelem, _made(node, x, table, out).step
    node.expect_dtype(table.dtype, out)
    node.require(table.nelem == _ENTRIES, "size of the table")
    size = table.nbytes // _ENTRIES
    node.require(size in _CODES, "table of dtype " + table.dtype)
    loops = forms.get("lookup")
    loop = loops.lookup8 if size == 1 else loops.lookup32
    code = _CODES[size]
    p = block(0, 0)
    return x.nelem, Items(loop, x.view("B"), table.view(code), out.view(code), p).step


def _made(node, x, steps, out):
    bits, first, item = node.extents(0, 3)
    scratch = node.scratch[0]
    node.expect_dtype("uint8", steps, scratch)
    node.require(out.nbytes == out.nelem and bits < 9, "dtype " + out.dtype)
    node.require(max(first, item) < _ENTRIES == scratch.nelem, "size of the table")
    node.require(bits * (_ENTRIES - 1) <= 8 * steps.nelem, "steps")
    loop = forms.get("lookup").lookup8
    step = _Made(loop, x.view("B"), scratch.view("B"), out.view("B"), block(0, 0))
    step.steps, step.steps_p = steps.view("B"), block(bits, first, item)
    step.make = forms.get("steps").steps
    return step


class _Made(Items):
    """Makes the table before it looks into it."""

    def step(self, lo, hi):
        self.make(self.steps, self.steps, self.w, self.steps_p)
        Items.step(self, lo, hi)
