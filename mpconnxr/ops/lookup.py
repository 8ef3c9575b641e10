"""lookup: each byte of x selects an entry of a table.

    out[i] = table[x[i] & 255]

Serves mpconnxr:Lookup, which replaces everything that is computed element by element from one
tensor of 8-bit integers: DQ -> Sigmoid -> Q, other scales, activations.

    x      any one-byte dtype
    table  any dtype of 1 or 4 bytes, 256 elements, those of negative x last; or, with scratch,
           uint8: differences between neighbours in few bits (see loops/steps)
    out    table's dtype (any one-byte dtype if the table is made from differences), as many
           elements as x; may share memory if both are bytes
    scratch  uint8, 256: the table that is made from differences
Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params, or none
_BITS = const(0)  # bits of a difference
_FIRST = const(1)  # index of the first element
_ELEMENT = const(2)  # that element
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
    """Emit the call that makes the table from its differences, and return its start."""
    bits, first, first_value = node.extents(0, _N_PARAMS)
    table = node.scratch[0]
    node.expect_dtype("uint8", steps, table)
    node.require(out.nbytes == out.nelem and bits < 9, "dtype " + out.dtype)
    node.require(max(first, first_value) < _ENTRIES == table.nelem, "size of the table")
    node.require(bits * (_ENTRIES - 1) <= 8 * steps.nelem, "steps")
    if out.nelem:
        p = block("steps", bits_per_step=bits, start=first, first_value=first_value)
        calls.call(
            forms.get("steps").steps, calls.place(steps, "B"), None, calls.place(table, "B"), p
        )
    return table
