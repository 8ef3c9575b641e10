"""Walks two strided operands along a C-order output, two dims a call of the loop."""

from ..parameters import block

_MAX_RANK = 32


class Runs:
    """The step of a kernel with two operands that broadcast to its output.

    Reads from the node's params, from index `first` to their end: rank, then rank times each:
    dims, strides of a, strides of b (0 where broadcast). Raises ModelError unless all stays
    within a_len and b_len items, and the dims hold out_len items.
    """

    def __init__(self, node, first, a_len, b_len, out_len):
        rank = node.params[first]
        node.require(0 <= rank <= _MAX_RANK, "rank")
        node.require(len(node.params) == first + 1 + 3 * rank, "params")
        values = node.extents(first + 1, 3 * rank)
        self.dims, self.a_strides = values[:rank], values[rank : 2 * rank]
        self.b_strides = values[2 * rank :]
        self.nelem = 1
        for d in self.dims:
            self.nelem *= d
        node.require(self.nelem == out_len, "output size")
        self.n = 0
        if self.nelem:
            node.require(_last(self.dims, self.a_strides) < a_len, "reads beyond an operand")
            node.require(_last(self.dims, self.b_strides) < b_len, "reads beyond an operand")
            self._arrange()

    def _arrange(self):
        """Splits off the two dims of a call; one dim alone is cut by items."""
        self.flat = len(self.dims) < 2
        pad = 2 - len(self.dims)
        for values, filler in ((self.dims, 1), (self.a_strides, 0), (self.b_strides, 0)):
            for _ in range(pad):
                values.insert(0, filler)
        self.rows, self.items = self.dims[-2:]
        self.n = self.nelem if self.flat else self.nelem // self.items
        a, b = self.a_strides, self.b_strides
        self.p = block(0, a[-2], a[-1], 0, b[-2], b[-1], 0, 1, self.items)

    def bind(self, loop, a, b, out):
        self.loop, self.a, self.b, self.out = loop, a, b, out

    def step(self, lo, hi):
        p = self.p
        if self.flat:
            p[0], p[3], p[6] = lo * p[2], lo * p[5], lo
            p[8] = hi - lo
            self.loop(self.a, self.b, self.out, p)
            return
        while lo < hi:  # few locals: a frame of more than 11 words would come from the heap
            self._locate(lo // self.rows, lo % self.rows)
            p[6] = lo * self.items
            p[7] = min(self.rows - lo % self.rows, hi - lo)
            self.loop(self.a, self.b, self.out, p)
            lo += p[7]

    def _locate(self, outer, row):
        """Sets the first items for one combination of the outer dims."""
        a, b = row * self.p[1], row * self.p[4]
        k = len(self.dims) - 3
        while k >= 0:
            a += outer % self.dims[k] * self.a_strides[k]
            b += outer % self.dims[k] * self.b_strides[k]
            outer //= self.dims[k]
            k -= 1
        self.p[0] = a
        self.p[3] = b


def _last(dims, strides):
    """Index of the last item that such a walk reads."""
    return sum([(dims[i] - 1) * strides[i] for i in range(len(dims))])
