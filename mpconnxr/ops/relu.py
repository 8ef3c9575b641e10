"""relu: out = max(x, 0), element by element. Serves Relu (all opsets), float32.

    x, out   float32, same size; may share memory
Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params: none

CALLS = True


def prepare(node, calls):
    node.expect(1, 1, 0)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    node.require(x.nelem == out.nelem, "sizes differ")
    n, x, out = x.nelem, calls.place(x, "i"), calls.place(out, "i")
    loop = forms.get("relu").relu32
    for start, end in calls.parts(n):
        calls.call(loop, x, None, out, block("relu", start=start, end=end))
