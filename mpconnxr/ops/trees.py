"""trees: exact sum of the outputs of an ensemble of decision trees, rounded once.

    out[n, t] = (the sum over trees of the weight of t in the leaf that x[n] reaches) / divisor

Serves TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble (all opsets) with SUM and
AVERAGE of float32. The converter turns every node mode into a comparison x <= cut, base values
into a leaf that every sample reaches, and labels and post transforms into steps of their own.
Weights are integers of one unit (see loops/tree_sums), so the order of additions does not matter;
the result is the float32 nearest to the sum, ties to even.

    x        float32 (N, F)
    table    int32, in which the number of a leaf is that of its first entry: see _tree_table
    entries  uint16 (entries, 3): parts of weights: see loops/tree_sums
    out      float32 (N, T)
    scratch  int32 (slots), int32 (trees + 1 + T * limbs)
Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..parameters import block as words
from ._tree_table import walker

# params
_TREE = const(0)  # [_tree_table]
_DIVISOR = const(9)
_COMMON = const(10)  # number of the leaf that every sample reaches
_LIMBS = const(11)  # of a target
_LEAST = const(12)  # bit of the sum with the value 2**-149; at least 1
_EXPONENT = const(13)  # signed; exponent of the sum's bit 0, biased as in float32
_MIRRORED = const(14)  # flag: T is 2; subtract the sum of target 1 from that of target 0
_N_PARAMS = const(15)

CALLS = True
PROVED = (1, 2)
_ENTRY = 3  # uint16
_MOST_TREES = 1 << 12  # a limb sums two 16-bit parts of each tree and of the common leaf: < BIAS
_PARTS = 4  # most parts of one target's weight in one leaf


def prepare(node, calls):
    node.expect(3, 1, _N_PARAMS, 2)
    x, _, entries = node.inputs
    out, scratch = node.outputs[0], node.scratch[1]
    node.expect_dtype("float32", x, out)
    node.expect_dtype("uint16", entries)
    n, _, n_targets, n_trees = node.extents(0, 4)
    divisor, common, limbs, least = node.extents(_DIVISOR, 4)
    [exponent] = node.signed(_EXPONENT, 1)
    [mirrored] = node.extents(_MIRRORED, 1)
    n_entries = entries.nelem // _ENTRY
    node.require(n_trees <= _MOST_TREES and 0 < divisor <= _MOST_TREES, "too many trees")
    node.require(n_entries * _ENTRY == entries.nelem and common < n_entries, "entries")
    node.require(n_trees + 1 + n_targets * limbs == scratch.nelem, "scratch")
    node.require(n * n_targets == out.nelem, "sizes")
    node.require(mirrored == 0 or mirrored == 1 and n_targets == 2, "targets")
    # there must be four limbs above the least bit, and the flags
    node.require(least > 0 and ((least - 1) >> 3) + 5 <= limbs, "limbs")
    node.require(least + 22 + exponent >= 0, "exponent")
    p = block(
        "tree_sums.check",
        entries=n_entries,
        all_limbs=n_targets * limbs,
        most_entries=_PARTS * n_targets,
    )
    _check_entries(node, entries.data, p)
    walk = walker(node, calls, n_entries)
    # Leaves and sums are parts of one tensor, so that they never overlap.
    leaves, sums = calls.place(scratch), _behind(calls, scratch, n_trees + 1)
    entries, out = calls.place(entries), calls.place(out, "H")
    loops = forms.get("tree_sums")
    for sample in calls.repeat(n):
        walk(sample)
        p = block(
            "tree_sums.add",
            leaves=n_trees,
            all_limbs=n_targets * limbs,
            mirrored_limbs=mirrored * limbs,
            common_leaf=common,
        )
        calls.call(loops.add, leaves, entries, sums, p)
        p = block("tree_sums.settle", targets=n_targets, limbs=limbs, divisor=divisor)
        calls.call(loops.settle, None, None, sums, p)
        p = block(
            "tree_sums.store",
            targets=n_targets,
            out_start=sample * n_targets,
            store_limbs=limbs,
            least_bit=least,
            exponent=exponent,
        )
        calls.call(loops.store, sums, None, out, p)


def _behind(calls, t, n):
    """Return a view of the part of a tensor behind its first n words."""
    t._offset += 4 * n
    t.nbytes -= 4 * n
    try:
        return calls.place(t, "i")
    finally:
        t._offset -= 4 * n
        t.nbytes += 4 * n


def _check_entries(node, entries, p):
    bad = words(0)  # one word
    forms.get("tree_sums").check(entries, entries, bad, p)
    node.require(not bad[0], "an entry")
