"""resample: weighted sums of neighbours along one axis.

    out[o, j, i] = sum over t < taps of weight[j, t] * x[o, first[j] + t, i]

Serves Resize and Upsample with linear and cubic interpolation (all opsets), one call an axis: the
converter works out the weights of every output, edges included.

    x       float32 or float64 (outer, n_in, inner);  out  same dtype (outer, n_out, inner)
    weight  same dtype (n_out, taps); a weight of zero leaves its item out, even if that is NaN
    params  outer, n_in, inner, n_out, taps, then n_out times first
Sums of float32 are of integers where the weights of each have a sum of magnitudes below 2 (see
loops/mix): the same bits in every form, and a step allocates nothing where viper is. Others
allocate boxed floats. Raises ModelError.
"""

from .. import forms
from ..parameters import block

_MOST = 1.99  # sum of a row's weights, without their signs


def prepare(node):
    node.require(len(node.params) >= 5, "params")
    outer, n_in, inner, n_out, taps = node.extents(0, 5)
    node.expect(2, 1, 5 + n_out)
    x, weight, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype(x.dtype, weight, out)
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    node.require(outer * n_in * inner == x.nelem, "input size")
    node.require(outer * n_out * inner == out.nelem, "output size")
    node.require(n_out * taps == weight.nelem, "size of the weights")
    if out.nelem == 0:
        return 0, None
    firsts = node.extents(5, n_out)
    node.require(max(firsts) + taps <= n_in, "a tap lies outside the input")
    step = _Resample(block(0, 0, n_in, inner, n_out, taps, *firsts))
    if x.dtype == "float32" and _are_small(weight.data, taps):
        step.bind(forms.get("mix").mix32, x.view("i"), weight.view("i"), out.view("i"))
    else:
        step.bind(forms.get("resample").resample, x.data, weight.data, out.data)
    return outer * n_out, step.step


def _are_small(weights, taps):
    i = 0
    while i < len(weights):
        total = 0.0
        for t in range(i, i + taps):
            total += abs(weights[t])
        if not total < _MOST:
            return False
        i += taps
    return True


class _Resample:
    """The extent is rows of the output: outer x n_out."""

    def __init__(self, p):
        self.p = p

    def bind(self, loop, x, weight, out):
        self.loop, self.x, self.weight, self.out = loop, x, weight, out

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.weight, self.out, self.p)
