"""clip: out = min(max(x, low), high), element by element; NaN stays NaN.

Serves Clip (all opsets) with constant limits, and so Relu6.

    x, out  float32, same size; may share memory
Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_LIMITS = const(0)  # [low, high] float
_N_PARAMS = const(2)

CALLS = True


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.expect_dtype("float32", x, out)
    node.require(x.nelem == out.nelem, "sizes differ")
    n, x, out = x.nelem, calls.place(x, "i"), calls.place(out, "i")
    low, high = node.params[_LIMITS], node.params[_LIMITS + 1]
    loop = forms.get("clip").clip32
    for start, end in calls.parts(n):
        calls.call(loop, x, None, out, block("clip", start=start, end=end, low=low, high=high))
