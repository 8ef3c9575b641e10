"""distances: out[n, v] = scale * sum over f of (x[n, f] - w[v, f]) ** 2.

Serves SVMClassifier and SVMRegressor with the RBF kernel (all opsets) and com.microsoft's CDist.

    x      float32 (N, F);  w  float32 (V, F);  out  float32 (N, V)
    scratch  float32, at_once * F elements: differences from at_once vectors, then their sums
Differences and the product are rounded to nearest, ties to even; the sum once, as in loops/sums.
Raises ModelError.
"""

import struct

from .. import forms
from ..blocks import block

# params
_N = const(0)
_VECTORS = const(1)
_FEATURES = const(2)
_AT_ONCE = const(3)
_SCALE = const(4)  # float
_N_PARAMS = const(5)

CALLS = True
STREAMS = (0, 1)


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w, out, work = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", x, w, out, work)
    n, vectors, features, at_once = node.extents(0, _SCALE)
    node.require(n * features == x.nelem and vectors * features == w.nelem, "sizes")
    node.require(n * vectors == out.nelem, "sizes")
    if out.nelem == 0:
        return
    node.require(features > 0 and at_once > 0, "nothing to add up")
    node.require(at_once * features <= work.nelem, "scratch size")
    scale = calls.constants("f", struct.pack("<i", node.params[_SCALE]))
    x, w, out = [calls.place(t) for t in (x, w, out)]
    call = _call(calls, x, w, out, calls.place(work), calls.place(work, "i"), scale, features)
    for row in calls.repeat(n):
        for first, count in calls.pieces(vectors, at_once):
            call(row * features, first * features, row * vectors + first, count)


def _call(calls, x, w, out, work, words, scale, features):
    """Return a function that emits the calls for the distances of a row from some vectors.

    `words` is a view of work as int32.
    """
    subtract, add_up = forms.get("add").add32, forms.get("sums").sum32
    multiply = forms.get("mul").mul32
    extra_bits = 0
    while features >> 15 + extra_bits:
        extra_bits += 1

    def call(x_start, w_start, out_start, n):
        p = block(
            "add",
            x_start=x_start,
            x_row_stride=0,
            x_stride=1,
            w_start=w_start,
            w_row_stride=features,
            w_stride=1,
            out_start=0,
            rows=n,
            columns=features,
            is_difference=1,
        )
        calls.call(subtract, x, w, work, p)
        # A sum overwrites an element that has been read.
        p = block("sums", start=0, end=n, length=features, inner=1, power=2, extra_bits=extra_bits)
        calls.call(add_up, words, None, words, p)
        p = block(
            "mul",
            x_start=0,
            x_row_stride=0,
            x_stride=1,
            w_start=0,
            w_row_stride=0,
            w_stride=0,
            out_start=out_start,
            rows=1,
            columns=n,
            is_prelu=0,
        )
        calls.call(multiply, work, scale, out, p)

    return call
