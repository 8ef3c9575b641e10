"""normalize: each row normalized to mean 0 and variance 1, then times a scale plus a bias.

    y[r, i] = (x[r, i] - mean[r]) * inv[r] * scale[s] + bias[s]
    s = r % period * step + i // width
    inv[r] = 1 / sqrt(variance[r] + epsilon)

or, if not centred, with mean 0 and the mean square in place of the variance. Serves
LayerNormalization, InstanceNormalization, GroupNormalization and RMSNormalization (all opsets).

    x       float32 or float64 (rows, n)
    scale   same dtype, optional;  bias  same dtype, optional after scale
    y       as x; may share memory;  mean, inv  float32 or float64 (rows), optional

Rows of float32 of up to 32767 elements are computed in integers (see loops/moments) unless mean or
inv is an output: the same bits in every form, within 1e-6 of a row's largest value; a step
allocates nothing where viper runs. Otherwise sums are compensated and the variance is that of the
centred values, so that single floats keep their digits however large the mean is; a step then
allocates boxed floats, as it does for rows with inf or NaN. Raises ModelError.
"""

import struct

from .. import forms
from ..blocks import block

# params
_LINES = const(0)
_N = const(1)
_CENTRED = const(2)  # flag
_EPSILON = const(3)  # float
_PERIOD = const(4)
_STEP = const(5)
_WIDTH = const(6)
_N_PARAMS = const(7)

CALLS = True
STREAMS = (1, 2)
_INFINITY = 0x7F800000


def prepare(node, calls):
    node.require(1 <= len(node.inputs) <= 3 and len(node.outputs) in (1, 3), "tensors")
    node.expect(len(node.inputs), len(node.outputs), _N_PARAMS)
    x, y = node.inputs[0], node.outputs[0]
    node.over(y, x)
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    node.expect_dtype(x.dtype, y, *node.inputs)
    rows, n, centred = node.extents(0, _EPSILON)
    period, step, width = node.extents(_PERIOD, _N_PARAMS - _PERIOD)
    node.require(centred < 2 and rows * n == x.nelem == y.nelem, "sizes")
    for t in node.outputs[1:]:
        node.require(t.dtype in ("float32", "float64") and t.nelem == rows, "statistics")
    if rows == 0:
        return
    node.require(period > 0 and width > 0 and n % width == 0, "period or block")
    for t in node.inputs[1:]:
        node.require((period - 1) * step + n // width <= t.nelem, "scale or bias size")
    if x.dtype == "float32" and 0 <= node.params[_EPSILON] < _INFINITY and len(node.outputs) == 1:
        from ._normalize_bits import MOST, emit

        if 0 < n <= MOST:
            shape = rows, n, centred, node.params[_EPSILON]
            return emit(calls, node.inputs, y, shape, (period, step, width))
    factors, statistics = node.inputs[1:], node.outputs[1:]
    epsilon = calls.constants("f", struct.pack("<i", node.params[_EPSILON]))
    w = [epsilon] + [calls.place(t) for t in factors] + [epsilon] * (2 - len(factors))
    w += [calls.place(t) for t in statistics]
    loop, x, w, y = forms.get("normalize").rows, calls.place(x), calls.hold(w), calls.place(y)
    for row, row_end in calls.parts(rows, n):
        p = block(
            "normalize",
            row=row,
            row_end=row_end,
            columns=n,
            is_centred=centred,
            period=period,
            factor_row_stride=step,
            factor_columns=width,
            factors=len(factors),
            has_moments=len(statistics) // 2,
        )
        calls.call(loop, x, w, y, p)
