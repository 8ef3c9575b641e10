"""unique: which slices of x differ from all slices before them.

Serves Unique (all opsets); its values are gathered by the indices.

    x        any dtype but float16 and bfloat16, seen as n slices of (outer, inner) items
    indices  int64, at least as many as there may be: where each such slice comes first
    inverse  int64 (n): number of the slice that equals slice i
    counts   as indices: how often each comes
    scratch  int32 (2 * n)
Raises ModelError; InputError for more than the dim's bound. A step allocates only integers and
boxed floats. Finding is by bisection, but putting one in order moves all that are larger.
"""

# params
_COUNT = const(0)  # dim of their number
_SORTED = const(1)  # flag: by their items, in C order; else in the order of the first ones
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
    room = min(indices.nelem, counts.nelem)
    node.require(n <= inverse.nelem and min(n, count.bound) <= room, "output sizes")
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
        """order[r]: number of the slice that is r-th by its items."""
        found = i = 0
        while i < self.n:
            r = self._place(i, found)
            if r < 0:
                number = self.order[-1 - r]
                self.counts[number] += 1
            else:
                if found >= self.count.bound:
                    self.count.set(found + 1)  # which raises
                number = found
                self._insert(r, found)
                self.indices[found] = i
                self.counts[found] = 1
                found += 1
            self.inverse[i] = number
            i += 1
        self.count.set(found)
        if self.in_order:
            self._sort(found)

    def _place(self, i, found):
        """Where slice i comes among the found ones; -1 - r if it equals the r-th."""
        low = 0
        while low < found:
            middle = (low + found) // 2
            sign = self._compare(i, self.indices[self.order[middle]])
            if not sign:
                return -1 - middle
            if sign < 0:
                found = middle
            else:
                low = middle + 1
        return low

    def _compare(self, i, j):
        """Sign of slice i minus slice j."""
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

    def _sort(self, found):
        """Numbers by rank; the second half of order holds what is being moved."""
        self._permute(self.indices, found)
        self._permute(self.counts, found)
        r = 0
        while r < found:
            self.order[self.n + self.order[r]] = r
            r += 1
        i = 0
        while i < self.n:
            self.inverse[i] = self.order[self.n + self.inverse[i]]
            i += 1

    def _permute(self, values, found):
        r = 0
        while r < found:
            self.order[self.n + r] = values[self.order[r]]
            r += 1
        r = 0
        while r < found:
            values[r] = self.order[self.n + r]
            r += 1
