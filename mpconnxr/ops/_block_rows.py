"""The sums of lstm, gru and rnn in block floating point: see block_gemm, whose rows these are."""

from .. import forms
from . import _block as blocks
from . import block_gemm

_INF = 0x7F800000
_BIASES = 5  # the first one's input, behind x, mantissas of W, of R, exponents of W, of R


class Products:
    """dots(x, w, out, p) in the place of loops/dot's; rows: of W and R, over all directions."""

    def __init__(self, node, rows, n, sizes, biases):
        """biases: 1 where W has any, where R has."""
        sums, inputs = node.scratch[0], node.inputs
        node.expect_dtype("int32", node.scratch[1])
        self.sums = sums.data
        of_w = inputs[1:_BIASES:2] + inputs[_BIASES : _BIASES + biases[0]]
        of_r = inputs[2:_BIASES:2] + inputs[_BIASES + biases[0] :][: biases[1]]
        self.of_x = self._product(node, inputs[0], of_w, rows, (n, sizes[0]))
        self.of_h = self._product(node, sums, of_r, rows, (n, sizes[1]))

    def _product(self, node, x, tensors, rows, shape):
        w, weights = tensors[0], blocks.constants(node, tensors, rows)
        sums, work = node.scratch
        if w.dtype == "int32" and forms.precedes("fpu_gemm", "vfp", "block"):
            from ._block_vfp_gemm import Rows

            node.require(rows * shape[1] <= w.nelem, "weights size")
            n, k = shape
            return Rows(x, weights, sums, n, k, [1, _INF, 0, _INF])
        product = block_gemm.Product(x, weights, sums, work)
        product.set_kind(w, shape[1])
        product.set_shape(1, *shape, [1, _INF, 0, _INF])
        product.set_weights_of(node, w, rows, shape[1])
        node.require(product.nelem <= work.nelem and shape[1] <= 0xFFFF, "scratch size")
        product.bind(1, 0, 0, 0, 0)
        return product

    def dots(self, x, w, out, p):
        product = self.of_h if x is self.sums else self.of_x
        product.row(p)
