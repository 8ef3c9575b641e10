"""matmul_nbits: rows of A times rows of W, of 2, 4 or 8 bits with a scale per block.

    out[m, n] = sum_k(a[m, k] * (w[n, k] - zero[n, k // size]) * scale[n, k // size]) + bias[n]

Serves com.microsoft's MatMulNBits. Each row of W is unpacked once and used for all rows of A.

    a      float32 (M, K)
    w      uint8 (N, blocks * size * bits / 8): the first element in the lowest bits
    scale  float32 (N, blocks);  zero  uint8 or float32, likewise
    bias   float32 (N), optional;  out  float32 (M, N)
    scratch  uint8 (blocks * size), float32 (blocks * size + 1)
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..blocks import block

# params
_M = const(0)
_N = const(1)
_K = const(2)
_BITS = const(3)  # 2, 4 or 8
_SIZE = const(4)  # elements of a block along k
_HAS_BIAS = const(5)  # flag
_N_PARAMS = const(6)

CALLS = True
STREAMS = (1, 2, 3)


def prepare(node, calls):
    m, n, k, bits, size, has_bias = node.extents(0, _N_PARAMS)
    node.expect(4 + has_bias, 1, _N_PARAMS, 2)
    a, w, scale, zero = node.inputs[:4]
    out, unpacked, row = node.outputs[0], node.scratch[0], node.scratch[1]
    node.expect_dtype("float32", a, scale, out, row, *node.inputs[4:])
    node.expect_dtype("uint8", w, unpacked)
    node.require(zero.dtype in ("uint8", "float32"), "zero points of dtype " + zero.dtype)
    node.require(bits in (2, 4, 8) and size > 0 and k > 0 and has_bias < 2, "bits, size or K")
    blocks = -(-k // size)
    width = blocks * size
    node.require(width * bits % 8 == 0 and n * (width * bits // 8) == w.nelem, "weights")
    node.require(n * blocks == scale.nelem == zero.nelem, "scales or zero points")
    node.require(m * k == a.nelem and m * n == out.nelem, "sizes")
    node.require(width <= unpacked.nelem and width < row.nelem, "scratch")
    node.require(not has_bias or node.inputs[4].nelem == n, "bias")
    if m == 0:
        return
    unpack, dequantize = forms.get("unpack").unpack, forms.get("quantize").dequantize
    copy, dots = forms.get("move").copy32, forms.get("dot").dots_f32
    scales = calls.hold([calls.place(scale), calls.place(zero)])
    bias = calls.place(node.inputs[4], "i") if has_bias else None
    bits_of_row = calls.place(row, "i")
    a, w, unpacked, row, out = [calls.place(t) for t in (a, w, unpacked, row, out)]
    for i in calls.repeat(n):  # rows of W
        p = block(
            "unpack",
            x_start=i * (width * bits // 8),
            elements=width,
            bits_per_element=bits,
            sign_bit=0,
            elements_per_byte=8 // bits,
        )
        calls.call(unpack, w, None, unpacked, p)
        p = block(
            "quantize.dequantize",
            x_start=0,
            x_row_stride=size,
            x_stride=1,
            w_start=i * blocks,
            w_row_stride=1,
            w_stride=0,
            out_start=0,
            rows=blocks,
            columns=size,
            has_zero_points=1,
        )
        calls.call(dequantize, unpacked, scales, row, p)
        if has_bias:
            p = block(
                "move",
                start=0,
                end=1,
                rows=1,
                columns=1,
                x_plane_stride=0,
                x_row_stride=0,
                x_column_stride=0,
                out_plane_stride=0,
                out_row_stride=0,
                out_column_stride=0,
                x_start=i,
                out_start=k,
            )
            calls.call(copy, bias, None, bits_of_row, p)
        for j in calls.repeat(m):
            p = block(
                "dot.dots_f32",
                x_start=j * k,
                columns=k,
                out_start=j * n + i,
                out_stride=1,
                has_bias=has_bias,
                w_start=0,
                rows=1,
            )
            calls.call(dots, a, row, out, p)
