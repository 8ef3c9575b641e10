"""cumulate: running sums or products along an axis.

    out[o, k, i] = OP over j <= k of x[o, j, i]       (j < k if exclusive; from the end if reverse)

Serves CumSum and CumProd (all opsets).

    x, out  float32, float64 or any integer dtype (outer, n, inner); must not share memory

Integers wrap around. Each float32 result is the previous one plus (times) an element, rounded as
numpy does, with the same bits in every form; this allocates nothing where viper runs. Otherwise a
run allocates boxed floats and integers. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..build.calls import wrap_bits
from ..tensor import range_of

# params
_PRODUCT = const(0)  # flag
_EXCLUSIVE = const(1)  # flag
_REVERSE = const(2)  # flag
_OUTER = const(3)
_N = const(4)
_INNER = const(5)
_N_PARAMS = const(6)

CALLS = True


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    product, exclusive, reverse, outer, n, inner = node.extents(0, _N_PARAMS)
    node.require(product < 2 and exclusive < 2 and reverse < 2, "flags")
    node.require(outer * n * inner == x.nelem == out.nelem, "sizes")
    limits = range_of(x.dtype)
    node.require(limits or x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    if out.nelem == 0:
        return
    is_float32 = x.dtype == "float32"
    x, out = calls.place(x), calls.place(out)
    if is_float32 and not reverse:
        return _chain(calls, x, out, (outer, n, inner), product, exclusive)
    for start, end in calls.parts(outer * inner, n):
        if limits:
            signed_bits, bits = wrap_bits(limits)
            p = block(
                "cumulate.cumulate_int",
                start=start,
                end=end,
                length=n,
                inner=inner,
                is_product=product,
                is_exclusive=exclusive,
                is_reversed=reverse,
                signed_bits=signed_bits,
                bits_per_element=bits,
            )
            calls.call(forms.get("cumulate").cumulate_int, x, None, out, p)
        else:
            p = block(
                "cumulate.cumulate_float",
                start=start,
                end=end,
                length=n,
                inner=inner,
                is_product=product,
                is_exclusive=exclusive,
                is_reversed=reverse,
            )
            calls.call(forms.get("cumulate").cumulate_float, x, None, out, p)


def _chain(calls, x, out, shape, product, exclusive):
    """Emit sums or products of float32 on the bits; out is also an operand."""
    outer, n, inner = shape
    one = calls.constants("f", [1.0])
    first = calls.constants("f", [float(product)]) if exclusive else x
    multiply = forms.get("mul").mul32
    loop = multiply if product else forms.get("add").add32
    for line in calls.repeat(outer):
        start = line * (n * inner)
        p = block(
            "mul",
            x_start=0 if exclusive else start,
            x_row_stride=0,
            x_stride=0 if exclusive else 1,
            w_start=0,
            w_row_stride=0,
            w_stride=0,
            out_start=start,
            rows=1,
            columns=inner,
            is_prelu=0,
        )
        calls.call(multiply, first, one, out, p)
        p = block(
            "add",  # or mul, whose is_prelu has the index of is_difference
            x_start=start,
            x_row_stride=0,
            x_stride=1,
            w_start=start if exclusive else start + inner,
            w_row_stride=0,
            w_stride=1,
            out_start=start + inner,
            rows=1,
            columns=(n - 1) * inner,
            is_difference=0,
        )
        calls.call(loop, out, x, out, p)
