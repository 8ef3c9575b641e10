"""trees_float: what an ensemble of decision trees adds up to, where kernel trees does not serve.

    out[n, t] = base[t] + AGGREGATE over trees of the weight of t in the leaf that x[n] leads to

Serves TreeEnsembleRegressor and TreeEnsemble with MIN and MAX, TreeEnsemble of float64, weights
that are not finite, and forests beyond what kernel trees takes (all opsets).

    x        float32 (N, F), or float64: then also weights, base and out
    table    int32: see tree_table
    first    uint8, uint16 or int32 (leaves + 1): where a leaf's entries begin, the last one's end
    targets  uint8, uint16 or int32 (entries);  weights  float32 (entries);  base  float32 (T)
    cuts     float64 (cuts): for float64 only, in the place of those in the table
    out      float32 (N, T): a target without an entry is 0
    scratch  int32 (slots) and int32 (trees)
    params   N, F, T, trees, slots, cuts, nodes, wide (0 or 1), rank_bits, aggregate (0 average,
             1 sum, 2 min, 3 max)
Raises ModelError. A step allocates only boxed floats.
"""

from ._tree_table import N_PARAMS, Walker

PROVED = (1, 2, 3)
_AVERAGE, _SUM, _MIN, _MAX = range(4)
_INDEX_DTYPES = ("uint8", "uint16", "int32")
_NAN = float("nan")


def prepare(node):
    node.require(len(node.inputs) in (6, 7), "inputs")
    node.expect(len(node.inputs), 1, N_PARAMS + 1, 2)
    x, _, first, targets, weights, base = node.inputs[:6]
    out, cuts = node.outputs[0], node.inputs[6:]
    node.expect_dtype("float64" if cuts else "float32", x, weights, base, out, *cuts)
    n, n_features, n_targets, n_trees = node.extents(0, 4)
    [aggregate] = node.extents(N_PARAMS, 1)
    node.require(aggregate <= _MAX, "aggregate")
    node.require(n * n_targets == out.nelem and base.nelem == n_targets > 0, "sizes")
    node.require(n_trees == node.scratch[1].nelem, "scratch")
    _check_leaves(node, first, targets, weights, n_targets)
    walker = Walker(node, node.scratch, first.nelem - 1, *cuts)
    step = _Trees((n_targets, n_trees), aggregate)
    step.walk, step.leaves = walker.walk, walker.leaves
    step.first, step.targets, step.weights = first.data, targets.data, weights.data
    step.base, step.out = base.data, out.data
    return n, step.step


def _check_leaves(node, first, targets, weights, n_targets):
    for t in (first, targets):
        node.require(t.dtype in _INDEX_DTYPES, "dtype " + t.dtype)
    node.require(first.nelem > 1 and targets.nelem == weights.nelem, "no leaves, or sizes")
    if targets.nelem:
        node.require(0 <= min(targets.data) and max(targets.data) < n_targets, "a target")
    ends = first.data
    node.require(ends[0] >= 0 and ends[len(ends) - 1] <= weights.nelem, "a leaf's entries")
    for i in range(len(ends) - 1):
        if not 0 <= ends[i + 1] - ends[i] <= n_targets:
            node.fail("a leaf's entries")


class _Trees:
    """The extent is samples."""

    def __init__(self, extents, aggregate):
        self.n_targets, n_trees = extents
        self.divisor = n_trees if aggregate == _AVERAGE else 1
        self.gather = (self._sum, self._sum, self._least, self._most)[aggregate]
        self.start = _NAN if aggregate in (_MIN, _MAX) else 0.0

    def step(self, lo, hi):
        n = self.n_targets
        while lo < hi:
            self.walk(lo)
            self._fill(lo * n, lo * n + n)
            self.gather(lo * n)
            self._finish(lo * n)
            lo += 1

    def _fill(self, at, end):
        while at < end:
            self.out[at] = self.start
            at += 1

    def _sum(self, at):
        out, targets, weights = self.out, self.targets, self.weights
        for leaf in self.leaves:
            i, end = self.first[leaf], self.first[leaf + 1]
            while i < end:
                k = at + targets[i]
                out[k] = out[k] + weights[i]
                i += 1

    def _least(self, at):
        out, targets, weights = self.out, self.targets, self.weights
        for leaf in self.leaves:
            i, end = self.first[leaf], self.first[leaf + 1]
            while i < end:
                k, v = at + targets[i], weights[i]
                if not out[k] <= v:
                    out[k] = v
                i += 1

    def _most(self, at):
        out, targets, weights = self.out, self.targets, self.weights
        for leaf in self.leaves:
            i, end = self.first[leaf], self.first[leaf + 1]
            while i < end:
                k, v = at + targets[i], weights[i]
                if not out[k] >= v:
                    out[k] = v
                i += 1

    def _finish(self, at):
        out, base, divisor = self.out, self.base, self.divisor
        k = 0
        while k < self.n_targets:
            v = out[at]
            if v != v and self.start != 0.0:  # no tree has an entry for this target
                v = 0.0
            out[at] = v / divisor + base[k]
            at += 1
            k += 1
