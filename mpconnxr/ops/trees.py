"""trees: exact sum of the outputs of an ensemble of decision trees, rounded once.

    out[n, t] = base[t] + sum over trees (the weight of t in the leaf that x[n] reaches) / divisor

With the flag `mirrored`, out[n, 0] is base[0] minus such a quotient of target 1. base[t] * divisor
is the weight of t in the common leaf, which every sample reaches. Overflow gives inf.

Serves TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble (all opsets) with SUM and
AVERAGE of float32. The converter turns every node mode into a comparison x <= cut, and labels and
post transforms into steps of their own. Weights are integers in units of 2**(exponent - 127), so
the order of additions does not matter; the result is the float32 nearest to the exact one, ties to
even.

    x        float32 (N, F)
    table    int32, in which the number of a leaf is that of its first entry: see _tree_table
    entries  uint16 (entries, 3): parts of weights: see loops/tree_sums
    out      float32 (N, T)
    scratch  int32 (slots): the rank of each slot's feature; int32 (trees + 1 + T * limbs): the
             leaf of each tree, an unused word, the sums
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
# A limb sums a part of 16 bits of each tree, and one or (mirrored) two of the common leaf: below
# BIAS. If the entries of a damaged file give it more, only numbers are wrong: settle makes digits
# of any sums.
_MOST_TREES = 1 << 12
_PARTS = 4  # of a target's weight in a leaf, 32 bits each; bounds the entries of a leaf


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
    node.require(n_trees <= _MOST_TREES and 0 < divisor <= _MOST_TREES, "trees or divisor")
    node.require(n_entries * _ENTRY == entries.nelem and common < n_entries, "entries")
    node.require(n_trees + 1 + n_targets * limbs == scratch.nelem, "scratch")
    node.require(n * n_targets == out.nelem, "sizes")
    node.require(mirrored == 0 or mirrored == 1 and n_targets == 2, "targets")
    # store reads four limbs, from that of bit least - 1 on, and the flags behind all limbs.
    node.require(least > 0 and ((least - 1) >> 3) + 5 <= limbs, "limbs")
    # It writes no negative exponent: that of bit least + 23 is at least 1.
    node.require(least + 22 + exponent >= 0, "exponent")
    p = block(
        "tree_sums.check",
        entries=n_entries,
        all_limbs=n_targets * limbs,
        most_entries=_PARTS * n_targets,
    )
    loops, bad, view = forms.get("tree_sums"), words(0), entries.data
    loops.check(view, view, bad, p)
    node.require(not bad[0], "an entry")
    walk = walker(node, calls, n_entries)
    # Leaves and sums are parts of one tensor, so that they never overlap.
    leaves, sums = calls.place(scratch), calls.place(scratch, "i", n_trees + 1)
    entries, out = calls.place(entries), calls.place(out, "H")
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
