"""matmul_nbits: rows of A times rows of W, which are blocks of a few bits an item.

    out[m, n] = sum_k(a[m, k] * (w[n, k] - zero[n, k // size]) * scale[n, k // size]) + bias[n]

Serves com.microsoft's MatMulNBits. A row of W is unpacked for all rows of A, and forgotten.

    a      float32 (M, K)
    w      uint8 (N, blocks * size * bits / 8): the first item in the lowest bits
    scale  float32 (N, blocks);  zero  uint8 or float32, likewise
    bias   float32 (N), if there is one;  out  float32 (M, N)
    scratch  uint8 (blocks * size), float32 (blocks * size + 1)
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..parameters import BIAS, block

# params
_M = const(0)
_N = const(1)
_K = const(2)
_BITS = const(3)  # 2, 4 or 8
_SIZE = const(4)  # of a block of k
_HAS_BIAS = const(5)  # flag
_N_PARAMS = const(6)

STREAMS = (1, 2, 3)


def prepare(node):
    m, n, k, bits, size, has_bias = node.extents(0, _N_PARAMS)
    node.expect(4 + has_bias, 1, _N_PARAMS, 2)
    a, w, scale, zero = node.inputs[:4]
    out, items, row = node.outputs[0], node.scratch[0], node.scratch[1]
    node.expect_dtype("float32", a, scale, out, row, *node.inputs[4:])
    node.expect_dtype("uint8", w, items)
    node.require(zero.dtype in ("uint8", "float32"), "zero points of dtype " + zero.dtype)
    node.require(bits in (2, 4, 8) and size > 0 and k > 0 and has_bias < 2, "bits, size or K")
    blocks = -(-k // size)
    width = blocks * size
    node.require(width * bits % 8 == 0 and n * (width * bits // 8) == w.nelem, "weights")
    node.require(n * blocks == scale.nelem == zero.nelem, "scales or zero points")
    node.require(m * k == a.nelem and m * n == out.nelem, "sizes")
    node.require(width <= items.nelem and width < row.nelem, "scratch")
    node.require(not has_bias or node.inputs[4].nelem == n, "bias")
    if m == 0:
        return 0, None
    step = _MatMulNBits((m, n, k), bits, blocks, size)
    step.a, step.w, step.out = a.data, w.data, out.data
    step.items, step.row = items.data, row.data
    if has_bias:
        step.bind_bias(node.inputs[4].view("i"), row.view("i"))
    step.scales = (scale.data, zero.data)
    step.dots_p[4] = has_bias
    return n, step.step


class _MatMulNBits:
    """The extent is rows of W."""

    bias = None

    def __init__(self, shape, bits, blocks, size):
        self.m, self.n, self.k = shape
        self.blocks, self.nbytes = blocks, blocks * size * bits // 8
        self.unpack_p = block(0, blocks * size, bits, 0, 8 // bits)
        self.scale_p = block(0, size, 1, 0, 1, 0, 0, blocks, size, 1)
        self.dots_p = block(0, self.k, 0, 1, 0, 0, 1)
        self.unpack = forms.get("unpack").unpack
        self.dequantize = forms.get("quantize").dequantize
        self.dots = forms.get("dot").dots_f32

    def bind_bias(self, bias, row):
        self.bias, self.bits = bias, row
        self.bias_p = block(0, 1, 1, 1, *[BIAS] * 8)
        self.copy = forms.get("move").copy32

    def step(self, lo, hi):
        while lo < hi:
            self.unpack_p[0] = lo * self.nbytes
            self.unpack(self.w, self.w, self.items, self.unpack_p)
            self.scale_p[3] = lo * self.blocks
            self.dequantize(self.items, self.scales, self.row, self.scale_p)
            if self.bias:
                self.bias_p[10], self.bias_p[11] = BIAS + lo, BIAS + self.k
                self.copy(self.bias, self.bias, self.bits, self.bias_p)
            self._multiply(lo)
            lo += 1

    def _multiply(self, n):
        p, m = self.dots_p, 0
        while m < self.m:
            p[0] = m * self.k
            p[2] = m * self.n + n
            self.dots(self.a, self.row, self.out, p)
            m += 1
