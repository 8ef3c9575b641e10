"""select: out = a where a condition holds; elsewhere out keeps its contents.

With kernel move before it, serves Where (all opsets, all dtypes).

    a          any dtype, seen as items of 1 or 4 bytes (wider dtypes as several)
    condition  bool
    out        a's item size, C order
    params     item size (1 or 4), rank, then rank times each: dims, strides of a (in items),
               strides of the condition
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ._runs import Runs

STREAMS = (0, 1)
_CODES = {1: "B", 4: "i"}


def prepare(node):
    node.require(len(node.params) >= 2, "params")
    node.expect(2, 1, len(node.params))
    size = node.params[0]
    node.require(size in _CODES, "item size")
    a, condition = node.inputs[0].view(_CODES[size]), node.inputs[1]
    node.expect_dtype("bool", condition)
    out = node.outputs[0].view(_CODES[size])
    runs = Runs(node, 1, len(a), condition.nelem, len(out))
    if runs.n:
        loops = forms.get("select")
        runs.bind(loops.select8 if size == 1 else loops.select32, a, condition.data, out)
    return runs.n, runs.step
