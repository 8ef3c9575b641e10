"""Matrix products in the FPU, for the same tensors as block_gemm (see _block_vfp)."""

from ..blocks import block
from . import _block as blocks
from ._block_vfp import clip_of

_CHUNK = 64  # channels of one call
_ROWS = 16  # rows of one call


class Rows:
    """Products of rows of x with rows of weights of k columns.

    Args:
        x: Tensor.
        tensors: 24-bit mantissas of weights, their exponents, and biases if there are any.
        out: Tensor.
        all_rows: rows of weights.
        n: rows of weights of one product.
        k: columns.
        limits: of the results, signs and magnitudes.

    Raises ModelError if the weights have other mantissas, or too few of them.
    """

    def __init__(self, node, calls, x, tensors, out, all_rows, n, k, limits):
        from ..loops.vfp.fpu_rows import _CONSTS, _X_START

        self.consts_start = _CONSTS - _X_START
        self.n, self.k, self.limits = n, k, limits
        consts, products = (
            calls.fpu("fpu_strips", "block").consts,
            calls.fpu("fpu_gemm", "block").products,
        )
        w, exponents, bias = blocks.constants(node, calls, tensors, all_rows)
        node.require(blocks.row_of(node, tensors[0], all_rows, k)[0] == 24, "bits of weights")
        x, out = calls.place(x, "i"), calls.place(out, "i")
        self.has_bias = int(bias is not None)
        self.rows = calls.fpu("fpu_rows", "block").rows
        self.needs = [calls.part(0, _X_START), calls.part(_X_START), x, w, out]
        self.needs += [x if bias is None else bias, exponents, consts, products]

    def dots(self, calls, x_start, rows, w_row, channels, out_start):
        """Emit products of some rows of x with some rows of weights.

        Args:
            calls: the mpconnxr.build.calls.Calls.
            x_start: start of the rows in x [elements].
            rows: rows of x.
            w_row: first row of weights.
            channels: rows of weights.
            out_start: start of the results in out [elements], whose rows have n elements.
        """
        clip, low, high = clip_of(self.limits)
        for first, some in calls.pieces(channels, _CHUNK):
            p = block(
                "fpu_rows",
                consts_w_start=w_row + first,
                consts_channels=some,
                consts_out_start=self.consts_start,
                consts_has_bias=self.has_bias,
                x_start=4 * x_start,
                rows=rows,
                x_row_stride=4 * self.k,
                columns=self.k,
                channels=some,
                w_start=4 * (w_row + first) * self.k,
                consts_start=4 * self.consts_start,
                out_start=4 * (out_start + first),
                out_row_stride=4 * self.n,
                clip=clip,
                low=low,
                high=high,
                consts=[0] * (2 * min(self.n, _CHUNK)),
            )
            calls.drive(self.rows, p, self.needs)

    def emit(self, calls, m, batches):
        """Emit a batched matrix product of m rows each.

        batches are n0 and n1 of out, then the strides of A and of W along each of them [matrices].
        """
        n0, n1, a0, a1, w0, w1 = batches
        for i in calls.repeat(n0):
            for j in calls.repeat(n1):
                for row, rows in calls.pieces(m, _ROWS):
                    x_start = ((i * a0 + j * a1) * m + row) * self.k
                    out_start = ((i * n1 + j) * m + row) * self.n
                    w_row = (i * w0 + j * w1) * self.n
                    self.dots(calls, x_start, rows, w_row, self.n, out_start)
