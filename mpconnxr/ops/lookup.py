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
Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params, or none
_BITS = const(0)  # of a step
_FIRST = const(1)  # where the first item lies
_ITEM = const(2)  # that item
_N_PARAMS = const(3)

CALLS = True

_CODES = {1: "B", 4: "i"}
_ENTRIES = 256


def prepare(node, calls):
    is_made = len(node.scratch) == 1
    node.expect(2, 1, _N_PARAMS if is_made else 0, 1 if is_made else 0)
    x, table, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.require(x.nbytes == x.nelem == out.nelem, "x of dtype {} or size".format(x.dtype))
    loops = forms.get("lookup")
    if is_made:
        table = _emit_table(node, calls, table, out)
        code, loop = "B", loops.lookup8
    else:
        node.expect_dtype(table.dtype, out)
        node.require(table.nelem == _ENTRIES, "size of the table")
        size = table.nbytes // _ENTRIES
        node.require(size in _CODES, "table of dtype " + table.dtype)
        code = _CODES[size]
        loop = loops.lookup8 if size == 1 else loops.lookup32
    n = x.nelem
    x, w, out = calls.place(x, "B"), calls.place(table, code), calls.place(out, code)
    for start, end in calls.parts(n):
        calls.call(loop, x, w, out, block("lookup", start=start, end=end))


def _emit_table(node, calls, steps, out):
    """Emit the call that makes the table of its steps, and return where it makes it."""
    bits, first, item = node.extents(0, _N_PARAMS)
    table = node.scratch[0]
    node.expect_dtype("uint8", steps, table)
    node.require(out.nbytes == out.nelem and bits < 9, "dtype " + out.dtype)
    node.require(max(first, item) < _ENTRIES == table.nelem, "size of the table")
    node.require(bits * (_ENTRIES - 1) <= 8 * steps.nelem, "steps")
    if out.nelem:
        p = block("steps", bits_per_step=bits, start=first, first_value=item)
        calls.call(
            forms.get("steps").steps, calls.place(steps, "B"), None, calls.place(table, "B"), p
        )
    return table
