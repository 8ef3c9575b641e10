"""The sums of lstm, gru and rnn in block floating point: see block_gemm, whose rows these are."""

from ..node import block
from . import block_gemm
from .block import fpu_loops

_INF = 0x7F800000
_N_WEIGHTS = 5  # x, mantissas of W, of R, tails of W, of R


def check(node, rows, params):
    """ModelError unless the tails of W and R are enough for so many rows, params: w_, r_bias."""
    node.require(max(params) == 0, "flags")
    node.expect_dtype("int32", node.scratch[1], *node.inputs[3:_N_WEIGHTS])
    for tails in node.inputs[3:_N_WEIGHTS]:
        node.require(rows * 3 <= tails.nelem, "tails are too small")


class Products:
    """dots(x, w, out, p) in the place of loops_dot's; rows: of W and R, over all directions."""

    def __init__(self, node, rows, n, sizes):
        x, w, r, w_tails, r_tails = node.inputs[:_N_WEIGHTS]
        sums = node.scratch[0]
        self.sums = sums.data
        self.of_x = self._product(node, (x, w, w_tails), rows, (n, sizes[0]))
        self.of_h = self._product(node, (sums, r, r_tails), rows, (n, sizes[1]))

    def _product(self, node, tensors, rows, shape):
        x, w, tails = tensors
        sums, work = node.scratch
        loops = fpu_loops(w, "loops_fpu_gemm")
        if loops:
            from .block_vfp_gemm import Rows

            node.require(rows * shape[1] <= w.nelem, "weights size")
            n, k = shape
            return Rows(loops, (x, w, tails, sums), n, k, [1, _INF, 0, _INF])
        product = block_gemm.Product(x, (w.data, tails.data), sums, work)
        product.set_shape(1, *shape)
        product.set_weights_of(node, w, rows, shape[1])
        product.finish_p.extend(block(1, _INF, 0, _INF, 0))
        node.require(product.words <= work.nelem and shape[1] <= 0xFFFF, "scratch size")
        return product

    def dots(self, x, w, out, p):
        product = self.of_h if x is self.sums else self.of_x
        product.first = p[0]
        product.at = p[2]
        product.w_row = p[5] // p[1]
        product.n = p[6]
        product.row()
