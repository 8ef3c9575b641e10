"""resample: weighted sums of neighbours along one axis.

    out[o, j, i] = sum over t < taps of weight[j, t] * x[o, first[j] + t, i]

Serves Resize and Upsample with linear and cubic interpolation (all opsets), one call per axis. The
converter computes the weights of every output, including those at the edges.

    x       float32 or float64 (outer, n_in, inner);  out  same dtype (outer, n_out, inner)
    weight  same dtype (n_out, taps); a weight of zero excludes its element, even if that is NaN

Sums of float32 are computed in integers where the magnitudes of an output's weights add up to less
than 2 (see loops/mix): the same bits in every form, and nothing is allocated where viper runs.
Otherwise boxed floats are. Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_OUTER = const(0)
_N_IN = const(1)
_INNER = const(2)
_N_OUT = const(3)
_TAPS = const(4)
_FIRSTS = const(5)  # [n_out]

CALLS = True

_MOST = 1.99  # sum of the magnitudes of a row's weights


def prepare(node, calls):
    node.require(len(node.params) >= _FIRSTS, "params")
    outer, n_in, inner, n_out, taps = node.extents(0, _FIRSTS)
    node.expect(2, 1, _FIRSTS + n_out)
    x, weight, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype(x.dtype, weight, out)
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    node.require(outer * n_in * inner == x.nelem, "input size")
    node.require(outer * n_out * inner == out.nelem, "output size")
    node.require(n_out * taps == weight.nelem, "size of the weights")
    if out.nelem == 0:
        return
    firsts = node.extents(_FIRSTS, n_out)
    node.require(max(firsts) + taps <= n_in, "a tap lies outside the input")
    if x.dtype == "float32" and _are_small(weight.data, taps):
        loop, code = forms.get("mix").mix32, "i"
    else:
        loop, code = forms.get("resample").resample, None
    x, weight, out = calls.place(x, code), calls.place(weight, code), calls.place(out, code)
    for start, end in calls.parts(outer * n_out, inner * taps):
        p = block(
            "mix.mix32",
            start=start,
            end=end,
            x_length=n_in,
            inner=inner,
            out_length=n_out,
            taps=taps,
            tap_starts=firsts,
        )
        calls.call(loop, x, weight, out, p)


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
