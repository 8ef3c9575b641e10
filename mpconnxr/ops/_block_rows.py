"""Products of lstm, gru and rnn in block floating point, with the rows of block_gemm."""

from ..loops.block_products import _CHANNELS, _OUT_START, _ROW_END, _ROW_START, _W_ROW, _X_START
from ..parameters import block
from . import _block as blocks
from . import block_gemm

_INF = 0x7F800000
_BIASES = 5  # input index of the first biases: behind x, mantissas of W, R, exponents of W, R


class Products:
    """Products of one row of x, or of h, with rows of W or R.

    Args:
        rows: rows of W and of R up to the end of this direction.
        n: rows of one direction.
        sizes: columns of W and of R.
        biases: two flags: W has biases, R has biases.
    """

    def __init__(self, node, calls, rows, n, sizes, biases):
        sums, inputs = node.scratch[0], node.inputs
        node.expect_dtype("int32", node.scratch[1])
        of_w = inputs[1:_BIASES:2] + inputs[_BIASES : _BIASES + biases[0]]
        of_r = inputs[2:_BIASES:2] + inputs[_BIASES + biases[0] :][: biases[1]]
        # W and R of a file may differ in dtype: the loops for an FPU take 24-bit mantissas alone.
        are_whole = inputs[1].dtype == inputs[2].dtype == "int32"
        made = _in_fpu if are_whole and calls.fpu("fpu_gemm", "block") else _product
        self.made = [
            made(node, calls, inputs[0], of_w, rows, (n, sizes[0])),
            made(node, calls, sums, of_r, rows, (n, sizes[1])),
        ]

    def dots(self, calls, which, x_start, first, rows, out):
        """Emit products of one row with some rows of weights.

        Args:
            calls: the mpconnxr.build.calls.Calls.
            which: 0: a row of x with W; 1: a row of the scratch with R.
            x_start: start of the row [elements].
            first: first row of weights.
            rows: rows of weights.
            out: start of the results in the scratch [elements].
        """
        product = self.made[which]
        if not isinstance(product, block_gemm.Product):
            product.dots(calls, x_start, 1, first, rows, out)
            return
        p = block(*product.p)
        p[_X_START], p[_W_ROW], p[_OUT_START] = x_start, first, out
        p[_CHANNELS], p[_ROW_END] = rows, 1
        calls.drive(product.products, p, product.needs, (_ROW_START, _ROW_END))


def _product(node, calls, x, tensors, rows, shape):
    sums, work = node.scratch
    w, (n, k) = tensors[0], shape
    weights = blocks.constants(node, calls, tensors, rows)
    product = block_gemm.Product(calls, x, weights, sums, work)
    product.set_kind(w, k)
    product.set_shape(1, n, k, [1, _INF, 0, _INF])
    product.set_weights_of(node, w, rows, k)
    node.require(product.nelem <= work.nelem and k <= 0xFFFF, "scratch size")
    product.bind(1, 0, 0, 0, 0)
    return product


def _in_fpu(node, calls, x, tensors, rows, shape):
    from ._block_vfp_gemm import Rows

    n, k = shape
    return Rows(node, calls, x, tensors, node.scratch[0], rows, n, k, [1, _INF, 0, _INF])
