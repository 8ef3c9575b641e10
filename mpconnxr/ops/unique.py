"""unique: slices of x that differ from all slices before them.

Serves Unique (all opsets). The converter gathers the values by the indices.

    x        any dtype but float16 and bfloat16, seen as n slices of (outer, inner) elements
    indices  int64, as many as there may be at most: index of each such slice's first occurrence
    inverse  int64 (n): number of the slice that equals slice i
    counts   as indices: number of occurrences
    scratch  int32 (2 * n)
Raises ModelError, and InputError for more slices than the dim's bound. A step allocates only
integers and boxed floats. Slices are found by bisection; an insertion moves all larger ones.
"""

# params
_COUNT = const(0)  # dim of the number of unique slices
_SORTED = const(1)  # flag: sorted by elements in C order; else in order of first occurrence
_OUTER = const(2)
_N = const(3)
_INNER = const(4)
_N_PARAMS = const(5)


def prepare(node):
    node.expect(1, 3, _N_PARAMS, 1)
    x, (indices, inverse, counts), order = node.inputs[0], node.outputs, node.scratch[0]
    node.require(x.dtype not in ("float16", "bfloat16"), "dtype " + x.dtype)
    node.expect_dtype("int64", indices, inverse, counts)
    node.expect_dtype("int32", order)
    in_order, outer, n, inner = node.extents(_SORTED, _N_PARAMS - _SORTED)
    count = node.dim(_COUNT)
    node.require(in_order < 2 and outer * n * inner == x.nelem, "sizes")
    most = min(indices.nelem, counts.nelem)
    node.require(n <= inverse.nelem and min(n, count.bound) <= most, "output sizes")
    node.require(2 * n <= order.nelem, "scratch size")
    unique = _Unique(x.data, (outer, n, inner), order.data, count)
    unique.indices, unique.inverse, unique.counts = indices.data, inverse.data, counts.data
    unique.in_order = in_order
    return 1, unique.step


class _Unique:
    def __init__(self, x, shape, order, count):
        self.x, self.order, self.count = x, order, count
        self.outer, self.n, self.inner = shape

    def step(self, lo, hi):
        """Find the unique slices; order[r] is the number of the r-th slice in ascending order."""
        n_unique = i = 0
        while i < self.n:
            r = self._place(i, n_unique)
            if r < 0:
                number = self.order[-1 - r]
                self.counts[number] += 1
            else:
                if n_unique >= self.count.bound:
                    self.count.set(n_unique + 1)  # raises
                number = n_unique
                self._insert(r, n_unique)
                self.indices[n_unique] = i
                self.counts[n_unique] = 1
                n_unique += 1
            self.inverse[i] = number
            i += 1
        self.count.set(n_unique)
        if self.in_order:
            self._sort(n_unique)

    def _place(self, i, high):
        """Return the rank of slice i among the unique slices; -1 - r if it equals the r-th."""
        low = 0
        while low < high:
            middle = (low + high) // 2
            sign = self._compare(i, self.indices[self.order[middle]])
            if not sign:
                return -1 - middle
            if sign < 0:
                high = middle
            else:
                low = middle + 1
        return low

    def _compare(self, i, j):
        """Return the sign of slice i minus slice j."""
        a, b = i * self.inner, j * self.inner
        o = 0
        while o < self.outer:
            k = 0
            while k < self.inner:
                u, v = self.x[a + k], self.x[b + k]
                if u != v:
                    return -1 if u < v else 1
                k += 1
            a += self.n * self.inner
            b += self.n * self.inner
            o += 1
        return 0

    def _insert(self, r, number):
        k = number
        while k > r:
            self.order[k] = self.order[k - 1]
            k -= 1
        self.order[r] = number

    def _sort(self, n_unique):
        """Renumber the slices by rank. The second half of order holds the values being moved."""
        self._permute(self.indices, n_unique)
        self._permute(self.counts, n_unique)
        r = 0
        while r < n_unique:
            self.order[self.n + self.order[r]] = r
            r += 1
        i = 0
        while i < self.n:
            self.inverse[i] = self.order[self.n + self.inverse[i]]
            i += 1

    def _permute(self, values, n_unique):
        r = 0
        while r < n_unique:
            self.order[self.n + r] = values[self.order[r]]
            r += 1
        r = 0
        while r < n_unique:
            values[r] = self.order[self.n + r]
            r += 1
