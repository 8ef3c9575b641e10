"""trees: what an ensemble of decision trees adds up to, for each sample and target.

    out[n, t] = base[t] + AGGREGATE over trees of the weight of t in the leaf that x[n] leads to

Serves TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble (all opsets; the converter
makes every node mode a comparison x <= cut, and labels and post transforms steps of their own).
A feature is looked up in its sorted cuts once a sample; walks then compare small integers.

    x        float32 (N, F), or float64: then also weights, base and out
    table    int32: roots (a node's number, or 2**29 + a leaf's), slots, cuts, nodes: loops_trees
    first    uint8, uint16 or int32 (leaves + 1): where a leaf's entries begin, the last one's end
    targets  uint8, uint16 or int32 (entries);  weights  float32 (entries);  base  float32 (T)
    cuts     float64 (cuts): for float64 only, in the place of those in the table
    out      float32 (N, T): a target without an entry is 0
    scratch  int32 (slots) and int32 (trees)
    params   aggregate (0 average, 1 sum, 2 min, 3 max), N, F, T, trees, slots, cuts, nodes,
             wide (0 or 1), rank_bits
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..errors import ModelError
from ..node import block

PROVED = (1, 2, 3)
_AVERAGE, _SUM, _MIN, _MAX = range(4)
_SLOT_WORDS = 4
_LEAF = 1 << 29  # in a root
_INDEX_DTYPES = ("uint8", "uint16", "int32")
_NAN = float("nan")


def prepare(node):
    node.require(len(node.inputs) in (6, 7), "inputs")
    node.expect(len(node.inputs), 1, 10, 2)
    x, table, first, targets, weights, base = node.inputs[:6]
    out = node.outputs[0]
    doubles = len(node.inputs) == 7
    node.expect_dtype("float64" if doubles else "float32", x, weights, base, out, *node.inputs[6:])
    node.expect_dtype("int32", table, *node.scratch)
    aggregate, n, n_features, n_targets, n_trees, n_slots = node.extents(0, 6)
    n_cuts, n_nodes, wide, rank_bits = node.extents(6, 4)
    node.require(aggregate <= _MAX and wide < 2 and rank_bits < 30, "flags")
    words = 2 + wide
    at_cuts = n_trees + _SLOT_WORDS * n_slots
    at_nodes = at_cuts if doubles else at_cuts + n_cuts
    node.require(at_nodes + words * n_nodes == table.nelem, "table size")
    node.require(n * n_features == x.nelem and n * n_targets == out.nelem, "sizes")
    node.require(base.nelem == n_targets and n_targets > 0 and n_trees > 0, "no trees or targets")
    ranks, leaves = node.scratch
    node.require(n_slots <= ranks.nelem and n_trees == leaves.nelem, "scratch")
    _check_leaves(node, first, targets, weights, n_targets)
    _check_slots(node, table.data, n_trees, (n_slots, n_features, n_cuts))
    walk = [at_nodes, words, rank_bits] + ([29, 0, 2] if wide else [14, 15, 1])
    _check_nodes(node, table.data, block(n_nodes, *walk + [n_slots, first.nelem - 1]), n_trees)
    step = _Trees((n_features, n_targets, n_trees), aggregate)
    step.name = node.name
    step.rank_p = block(0, n_slots, n_trees, at_cuts, 0x7FFFFFFF, 0x7F800000)
    step.walk_p = block(n_trees, *walk)
    step.bind(x.data if doubles else x.view("i"), table.data, ranks.data, leaves.data)
    if doubles:
        node.require(n_cuts <= node.inputs[6].nelem, "cuts")
        step.cuts, step.rank = node.inputs[6].data, step.rank_doubles
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


def _check_slots(node, table, at, extents):
    n_slots, n_features, n_cuts = extents
    for i in range(at, at + _SLOT_WORDS * n_slots, _SLOT_WORDS):
        first, negative, n = table[i + 1], table[i + 2], table[i + 3]
        node.require(0 <= table[i] >> 1 < n_features, "a feature")
        node.require(0 <= negative <= n and 0 <= first <= n_cuts - n, "a slot's cuts")


def _check_nodes(node, table, p, n_trees):
    for tree in range(n_trees):
        ref = table[tree]
        last = p[8] if ref & _LEAF else p[0]
        node.require(0 <= ref < 2 * _LEAF and ref & (_LEAF - 1) < last, "a root")
    bad = block(0)
    forms.get("loops_trees").check(table, table, bad, p)
    node.require(not bad[0], "a node")


class _Trees:
    """The extent is samples."""

    def __init__(self, extents, aggregate):
        self.n_features, self.n_targets, self.n_trees = extents
        self.divisor = self.n_trees if aggregate == _AVERAGE else 1
        self.gather = (self._sum, self._sum, self._least, self._most)[aggregate]
        self.start = _NAN if aggregate in (_MIN, _MAX) else 0.0

    def bind(self, x, table, ranks, leaves):
        self.x, self.table, self.ranks, self.leaves = x, table, ranks, leaves
        self.loops = forms.get("loops_trees")
        self.rank = self.loops.rank

    def rank_doubles(self, x, table, ranks, p):
        """As the loop of floats."""
        at = p[2]
        for slot in range(p[1]):
            ranks[slot] = self._rank(x[p[0] + (table[at] >> 1)], at)
            at += _SLOT_WORDS

    def _rank(self, v, at):
        low, n = self.table[at + 1], self.table[at + 3]
        if v != v:
            return 0 if self.table[at] & 1 else n + 1
        first, high = low, low + n
        while low < high:
            middle = (low + high) >> 1
            if self.cuts[middle] < v:
                low = middle + 1
            else:
                high = middle
        return low - first + 1

    def step(self, lo, hi):
        try:
            self._samples(lo, hi)
        except IndexError:  # what was proved is lost where out lies over the leaves
            raise ModelError(self.name + ": its tensors overlap")

    def _samples(self, lo, hi):
        n = self.n_targets
        while lo < hi:
            self.rank_p[0] = lo * self.n_features
            self.rank(self.x, self.table, self.ranks, self.rank_p)
            self.loops.walk(self.ranks, self.table, self.leaves, self.walk_p)
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
