"""select: out = a where a condition holds; other elements of out keep their contents.

After kernel move, serves Where (all opsets, all dtypes).

    a          any dtype, seen as elements of 1 or 4 bytes (wider dtypes as several)
    condition  bool
    out        a's element size, C order
Raises ModelError.
"""

from .. import forms
from ._runs import blocks, operands

# params
_UNIT = const(0)  # bytes of an element: 1 or 4
_RUNS = const(1)  # [_runs] of a and the condition

CALLS = True
STREAMS = (0, 1)
_CODES = {1: "B", 4: "i"}


def prepare(node, calls):
    node.require(len(node.params) >= 2, "params")
    node.expect(2, 1, len(node.params))
    size = node.params[_UNIT]
    node.require(size in _CODES, "element size")
    x, condition, out = node.inputs[0], node.inputs[1], node.outputs[0]
    a = calls.place(x, _CODES[size])
    node.expect_dtype("bool", condition)
    selected = calls.place(out, _CODES[size])
    runs = operands(node, _RUNS, x.nbytes // size, condition.nelem, out.nbytes // size)
    if not runs:
        return
    loops = forms.get("select")
    loop, condition = loops.select8 if size == 1 else loops.select32, calls.place(condition)
    for p in blocks(calls, *runs):
        calls.call(loop, a, condition, selected, p)
