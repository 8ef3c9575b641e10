"""gemm: batched product of rows of A and rows of W.

    out[b, m, n] = sum_k(a[b, m, k] * w[b, n, k]) + bias[b, n]

Serves Gemm and MatMul (all opsets; the converter lays A and W out so that k is contiguous, and
folds alpha, beta and the transposes).

    a    float32, float64 or any integer dtype (A batches, M, K)
    w    same dtype (W batches, N, K + has_bias): the bias lies behind its row
    out  same dtype (n0, n1, M, N); integers wrap around
Raises ModelError. A run allocates only boxed floats and big integers.
"""

from .. import forms
from ..blocks import block
from ..build.calls import walk, wrap_bits
from ..tensor import range_of

# params
_BATCHES = const(0)  # [2] batches of out; 1 where there are none
_M = const(2)
_N = const(3)
_K = const(4)
_HAS_BIAS = const(5)  # flag
_A_STEPS = const(6)  # [2] stride of a batch in A [matrices]
_W_STEPS = const(8)  # [2] stride of a batch in W [matrices]; 0: broadcast
_N_PARAMS = const(10)

CALLS = True
STREAMS = (1,)


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    a, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype(a.dtype, w, out)
    limits = range_of(a.dtype)
    node.require(limits or a.dtype in ("float32", "float64"), "dtype " + a.dtype)
    n0, n1, m, n, k, has_bias, a0, a1, w0, w1 = node.extents(0, _N_PARAMS)
    node.require(has_bias < 2 and n0 * n1 * m * n == out.nelem, "output size")
    if out.nelem == 0:
        return
    a_batches = (n0 - 1) * a0 + (n1 - 1) * a1 + 1
    w_batches = (n0 - 1) * w0 + (n1 - 1) * w1 + 1
    node.require(a_batches * m * k <= a.nelem, "A is too small")
    node.require(w_batches * n * (k + has_bias) <= w.nelem, "W is too small")
    a, w, out = calls.place(a), calls.place(w), calls.place(out)
    a_size, w_size = m * k, n * (k + has_bias)  # elements of a matrix
    a_strides, w_strides = (a0 * a_size, a1 * a_size, k), (w0 * w_size, w1 * w_size, 0)
    out_strides = n1 * m * n, m * n, n
    for x_start, w_start, out_start in walk(calls, (n0, n1, m), a_strides, w_strides, out_strides):
        if limits:
            signed_bits, bits = wrap_bits(limits)
            p = block(
                "dot.dots_int",
                x_start=x_start,
                columns=k,
                out_start=out_start,
                out_stride=1,
                has_bias=has_bias,
                w_start=w_start,
                rows=n,
                signed_bits=signed_bits,
                bits_per_element=bits,
            )
            calls.call(forms.get("dot").dots_int, a, w, out, p)
        else:
            p = block(
                "dot.dots_f32",
                x_start=x_start,
                columns=k,
                out_start=out_start,
                out_stride=1,
                has_bias=has_bias,
                w_start=w_start,
                rows=n,
            )
            calls.call(forms.get("dot").dots_f32, a, w, out, p)
