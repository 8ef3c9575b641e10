"""one_hot: indices spread along a new axis.

    out[o, d, i] = values[1] if index[o, i] is d or d - depth, else values[0]

Serves OneHot (all opsets). An index outside -depth .. depth - 1 gives values[0] only.

    index  float32, float64 or any integer dtype (outer, inner)
    values any dtype (2);  out  same dtype (outer, depth, inner)
Raises ModelError. A step allocates only boxed floats and integers, of int32 indices and values of
32 bits nothing where viper is.
"""

from .. import forms
from ..parameters import block

# params
_OUTER = const(0)
_DEPTH = const(1)
_INNER = const(2)
_N_PARAMS = const(3)


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    index, values, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.require(index.dtype not in ("float16", "bfloat16"), "indices of dtype " + index.dtype)
    node.expect_dtype(values.dtype, out)
    outer, depth, inner = node.extents(0, _N_PARAMS)
    node.require(outer * inner == index.nelem and values.nelem == 2, "sizes")
    node.require(outer * depth * inner == out.nelem, "output size")
    if out.nelem == 0:
        return 0, None
    step = _OneHot(block(0, 0, depth, inner))
    step.index, step.values, step.out = index.data, values.data, out.data
    if index.dtype == "int32" and values.dtype in ("float32", "int32", "uint32"):
        step.loop = forms.get("ints").one_hot32
        step.values, step.out = values.view("i"), out.view("i")
    return outer * depth, step.step


class _OneHot:
    """The extent is rows of the output: outer x depth."""

    def __init__(self, p):
        self.p = p
        self.loop = forms.get("one_hot").one_hot

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.index, self.values, self.out, self.p)
