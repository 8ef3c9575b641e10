"""trees_float: aggregate of decision trees in floats, where kernel trees does not apply.

    out[n, t] = base[t] + AGGREGATE over trees of the weight of t in the leaf that x[n] reaches

Serves TreeEnsembleRegressor and TreeEnsemble with MIN and MAX, TreeEnsemble of float64, weights
with inf or NaN, and forests beyond the limits of kernel trees (all opsets).

    x        float32 (N, F), or float64: then also weights, base and out
    table    int32: see _tree_table
    first    uint8, uint16 or int32 (leaves + 1): number of each leaf's first entry, and their end
    targets  uint8, uint16 or int32 (entries);  weights  float32 (entries);  base  float32 (T)
    cuts     float64 (cuts): only for float64; replaces the cuts of the table
    out      float32 (N, T): base[t] for a target without an entry
    scratch  int32 (slots) and int32 (trees)
With MIN and MAX, a weight that is NaN counts as none, and drops those of the trees before it.
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..blocks import block
from ._tree_table import walker

# params
_TREE = const(0)  # [_tree_table]
_AGGREGATE = const(9)  # 0 average, 1 sum, 2 min, 3 max
_N_PARAMS = const(10)

CALLS = True
PROVED = (1, 2, 3)
_AVERAGE, _SUM, _MIN, _MAX = range(4)
_INDEX_DTYPES = ("uint8", "uint16", "int32")


def prepare(node, calls):
    node.require(len(node.inputs) in (6, 7), "inputs")
    node.expect(len(node.inputs), 1, _N_PARAMS, 2)
    x, _, first, targets, weights, base = node.inputs[:6]
    out, cuts = node.outputs[0], node.inputs[6:]
    node.expect_dtype("float64" if cuts else "float32", x, weights, base, out, *cuts)
    n, n_features, n_targets, n_trees = node.extents(0, 4)
    [aggregate] = node.extents(_AGGREGATE, 1)
    node.require(aggregate <= _MAX, "aggregate")
    node.require(n * n_targets == out.nelem and base.nelem == n_targets > 0, "sizes")
    node.require(n_trees == node.scratch[1].nelem, "scratch")
    _check_leaves(node, first, targets, weights, n_targets)
    walk = walker(node, calls, first.nelem - 1, *cuts)
    loops, leaves = forms.get("tree_values"), calls.place(node.scratch[1])
    total = (loops.total, loops.total, loops.least, loops.most)[aggregate]
    w = calls.hold([calls.place(t) for t in (first, targets, weights, base)])
    out = calls.place(out)
    for sample in calls.repeat(n):
        walk(sample)
        p = block(
            "tree_values.total",
            out_start=sample * n_targets,
            targets=n_targets,
            divisor=n_trees if aggregate == _AVERAGE else 1,
            trees=n_trees,
        )
        calls.call(total, leaves, w, out, p)


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
