"""Products of matrices in the FPU, of the same tensors as block_gemm's: see _block_vfp."""

from .. import forms
from ..parameters import block
from ._block_vfp import kind_of

_CHUNK = 64  # columns of one call
_ROWS = 16  # rows of one call
_N_PARAMS = 12


class Rows:
    """Products of rows of x, from item `first` on, with rows of weights from w_row on, to n items
    of out each, from `at` on. weights: as block.constants gives them.

    p: parameters of the loop, and 2 words for each channel of a call.
    """

    first = at = w_row = 0

    def __init__(self, x, weights, out, n, k, limits):
        self.x, self.out = x.view("i"), out.view("i")
        self.w, self.exponents, bias = weights
        self.bias = self.x if bias is None else bias
        loops = forms.get("fpu_gemm", "vfp")
        self.consts, self.products = loops.consts, loops.products
        self.n, self.k = n, k
        self.p = block(*[0] * (_N_PARAMS + 2 * min(n, _CHUNK)))
        self.consts_p = block(0, 0, _N_PARAMS, int(bias is not None))
        self.p[2], self.p[3], self.p[6], self.p[8] = 4 * k, k, 4 * _N_PARAMS, 4 * n
        self.p[9], self.p[10], self.p[11] = kind_of(limits)

    def row(self, x, w, out, p):
        """Compute one row, as a loop. p: first, w_row, at, n."""
        self.first, self.w_row, self.at, self.n = p
        self.rows(1, 0)

    def rows(self, m, column):
        self.p[0], self.p[1] = 4 * self.first, m
        while column < self.n:
            self._columns(column, min(self.n - column, _CHUNK))
            column += _CHUNK

    def _columns(self, column, n):
        self.consts_p[0] = self.w_row + column
        self.consts_p[1] = self.p[4] = n
        self.p[5] = 4 * (self.w_row + column) * self.k
        self.p[7] = 4 * (self.at + column)
        self.consts(self.bias, self.exponents, self.p, self.consts_p)
        self.products(self.x, self.w, self.out, self.p)


class Batches(Rows):
    """The extent: batches x pieces of A's rows."""

    def set_batches(self, m, batches):
        """batches: n1, and as of block_gemm the steps in A and W. Gives pieces of a batch."""
        self.m, self.batches = m, batches
        self.pieces = -(-m // _ROWS)
        return self.pieces

    def step(self, lo, hi):
        while lo < hi:
            self._place(lo // self.pieces, lo % self.pieces * _ROWS)
            self.rows(min(_ROWS, self.m - lo % self.pieces * _ROWS), 0)
            lo += 1

    def _place(self, batch, row):
        b = self.batches
        self.w_row = (batch // b[0] * b[3] + batch % b[0] * b[4]) * self.n
        self.first = (batch // b[0] * b[1] + batch % b[0] * b[2]) * self.m
        self.first = (self.first + row) * self.k
        self.at = (batch * self.m + row) * self.n
