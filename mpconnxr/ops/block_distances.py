"""block_distances: squared Euclidean distances in fixed point, or exponentials of them.

    out[n, v] = scale * sum over f of (x[n, f] - w[v, f]) ** 2
    or exp(-decay * the sum)

Serves SVMClassifier and SVMRegressor with the RBF kernel (all opsets), com.microsoft's CDist,
Scans of distances, and Exp of these, for constant w.

    x    float32 (N, F);  out  float32 (N, V)
    w    int32 (V, F): the vectors times 2**(152 - exponent), + 2**26
    scratch  int32: a row of x in the unit of w, or in that of its own largest element if coarser
             (F + 2 elements, see loops/units), and sums of up to 128 vectors (three words each)

The sum of squares is exact and rounded once; so is the product if scale is not 1. Exponentials are
within 1e-6 of the exact value (see loops/decay). A row with inf or NaN gives these. Raises
ModelError.
"""

import struct

from .. import forms
from ..blocks import block

# params
_N = const(0)
_VECTORS = const(1)
_FEATURES = const(2)
_EXPONENT = const(3)  # of the largest element of w, biased
_SCALE = const(4)  # float
_DECAY = const(5)  # [factor, shift] decay / ln(2) = factor / 2 ** shift, of 30 bits; 0: none
_N_PARAMS = const(7)

CALLS = True
STREAMS = (0, 1)
_MOST_FEATURES = 0xFFFF
_CHUNK = 128  # vectors of one call
_ONE = 0x3F800000
_MOST_SHIFT = 200


def scratch_words(vectors, features):
    """Return the words of scratch: those of a row and of the sums of one call."""
    return features + 2 + 3 * min(vectors, _CHUNK)


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w, out, work = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", x, out)
    node.expect_dtype("int32", w, work)
    n, vectors, features, exponent = node.extents(0, _SCALE)
    node.require(n * features == x.nelem and vectors * features == w.nelem, "sizes")
    node.require(n * vectors == out.nelem, "sizes")
    node.require(0 < exponent < 255 and features <= _MOST_FEATURES, "exponent or features")
    if out.nelem == 0:
        return
    words = scratch_words(vectors, features)
    node.require(features > 0 and words <= work.nelem, "scratch size")
    factor, [shift] = node.params[_DECAY], node.extents(_DECAY + 1, 1)
    node.require(factor == 0 or factor >> 29 == 1 and shift <= _MOST_SHIFT, "decay")
    x, w, work = [calls.place(t, "i") for t in (x, w, work)]
    scale, sums = node.params[_SCALE], calls.place(out, "i")
    node.require(not factor or scale == _ONE, "a scale and a decay")
    call = _call(calls, x, w, sums, work, features, exponent)
    for row in calls.repeat(n):
        call(row, vectors)
    # The calls below process many rows at once, since rows may be short.
    if scale != _ONE:
        _emit_products(calls, calls.place(out), n, vectors, scale)
    if factor:
        _emit_exponentials(calls, sums, n, vectors, factor, shift)


def _call(calls, x, w, out, work, features, exponent):
    """Return a function that emits the calls for the distances of a row from all vectors."""
    units, loops = forms.get("units").units, forms.get("squares")

    def call(row, vectors):
        p = block("units", x_start=row * features, elements=features, least_exponent=exponent)
        calls.call(units, x, None, work, p)
        for first, n in calls.pieces(vectors, _CHUNK):
            w_start, out_start = first * features, row * vectors + first
            p = _squares(w_start, features, out_start, n)
            calls.call(loops.totals, work, w, work, p)
            p = _squares(w_start, features, out_start, n)
            calls.call(loops.squares, work, None, out, p)

    return call


def _squares(w_start, features, out_start, n):
    """Return a block of totals or squares for n vectors."""
    return block(
        "squares",
        w_start=w_start,
        elements=features,
        out_start=out_start,
        out_end=out_start + n,
    )


def _emit_products(calls, out, n, columns, scale):
    """Emit calls that multiply the n rows of out by a scale, given as the bits of a float."""
    multiply = forms.get("mul").mul32
    scale = calls.constants("f", struct.pack("<i", scale))
    for row, row_end in calls.parts(n, columns):
        p = block(
            "mul",
            x_start=row * columns,
            x_row_stride=0,
            x_stride=1,
            w_start=0,
            w_row_stride=0,
            w_stride=0,
            out_start=row * columns,
            rows=1,
            columns=(row_end - row) * columns,
            is_prelu=0,
        )
        calls.call(multiply, out, scale, out, p)


def _emit_exponentials(calls, out, n, columns, factor, shift):
    """Emit calls that replace each element v of the n rows of out by exp(-decay * v)."""
    from ._softmax_bits import POWERS

    decay, powers = forms.get("decay").decay32, calls.constants("i", POWERS)
    for row, row_end in calls.parts(n, columns):
        p = block(
            "decay",
            start=row * columns,
            end=row_end * columns,
            multiplier=factor,
            shift=shift,
        )
        calls.call(decay, out, powers, out, p)
