"""nonzero: indices of the elements of x that are not 0.

    out[r, k] = coordinate r of the k-th such element, in C order

Serves NonZero (all opsets, all numeric dtypes).

    x        any dtype whose 0 is all bits 0, or float32 or float64 (-0.0 is 0, too)
    out      int64, at least rank * x.nelem elements, of which the first rank * count are written
Raises ModelError, and InputError for more elements than the dim's bound. A step allocates only
integers.
"""

# params
_COUNT = const(0)  # dim
_DIMS = const(1)  # [*] dims of x, at least one


def prepare(node):
    rank = len(node.params) - _DIMS
    node.require(0 < rank <= 32, "rank")
    node.expect(1, 1, _DIMS + rank)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype("int64", out)
    dims = node.extents(_DIMS, rank)
    nelem = 1
    for d in dims:
        nelem *= d
    count = node.dim(_COUNT)
    node.require(nelem == x.nelem, "dims")
    node.require(rank * min(count.bound, nelem) <= out.nelem, "output size")
    return 1, _NonZero(x.data, out.data, dims, count).step


class _NonZero:
    def __init__(self, x, out, dims, count):
        self.x, self.out, self.dims, self.count = x, out, dims, count

    def step(self, lo, hi):
        """Count the elements first: the count is the distance between the rows of out."""
        n = 0
        for v in self.x:
            if v:
                n += 1
        self.count.set(n)
        k = i = 0
        while k < n:
            if self.x[i]:
                self._write(i, k, n)
                k += 1
            i += 1

    def _write(self, i, k, n):
        r = len(self.dims)
        while r:
            r -= 1
            self.out[r * n + k] = i % self.dims[r]
            i //= self.dims[r]
