"""The table of decision trees, for kernels trees and trees_float: find the leaves of a sample.

Each slot (a feature, and the side to which NaN goes) is looked up once per sample in its sorted
cuts; the walks through the trees then compare small integers, its ranks. The table is int32: roots
(the number of a node, or 2**29 + that of a leaf), slots, cuts, nodes (see loops/trees).
"""

from .. import forms
from ..blocks import block
from ..loops.trees import _LEAVES
from ..loops.trees import _NODES as _CHECK_NODES
from ..parameters import block as words

# params
_N = const(0)
_FEATURES = const(1)
_TARGETS = const(2)
_TREES = const(3)
_SLOTS = const(4)
_CUTS = const(5)
_NODES = const(6)
_WIDE = const(7)  # flag
_RANK_BITS = const(8)
_N_PARAMS = const(9)

_SLOT_WORDS = 4
_LEAF = 1 << 29  # bit of a root that is a leaf


def walker(node, calls, n_leaves, cuts=None):
    """Check the table and return a function that emits the calls for a sample, by its number.

    The calls write the leaf of each tree to the second scratch tensor.

    Args:
        node: the node.
        calls: the mpconnxr.build.calls.Calls.
        n_leaves: numbers of leaves are below it.
        cuts: float64 Tensor that replaces the cuts of the table, for a float64 x.

    Raises:
        ModelError: if the table is inconsistent.
    """
    rank_block, walk_block = _check(node, node.scratch, n_leaves, cuts)
    n_features, n_cuts = node.params[_FEATURES], node.params[_CUTS]
    x, t = node.inputs[:2]
    table = w = calls.place(t)
    ranks, leaves = [calls.place(t) for t in node.scratch]
    loops = forms.get("trees")
    rank, walk_of = loops.rank, loops.walk
    if cuts:
        node.require(n_cuts <= cuts.nelem, "cuts")
        rank, w = forms.get("tree_values").rank_doubles, calls.hold([table, calls.place(cuts)])
    x = calls.place(x) if cuts else calls.place(x, "i")

    def walk(sample):
        calls.call(rank, x, w, ranks, rank_block(sample * n_features))
        calls.call(walk_of, ranks, table, leaves, walk_block())

    return walk


def _check(node, scratch, n_leaves, cuts=None):
    """Check the table; return functions that make blocks of rank (by start of x) and of walk."""
    x, table = node.inputs[:2]
    n, n_features, _, n_trees, n_slots = node.extents(0, _CUTS)
    n_cuts, n_nodes, wide, rank_bits = node.extents(_CUTS, _N_PARAMS - _CUTS)
    ranks, leaves = scratch
    node.expect_dtype("int32", table, ranks, leaves)
    node.require(wide < 2 and rank_bits < 30, "flags")
    node.require(n * n_features == x.nelem and n_trees > 0, "sizes or no trees")
    at_cuts = n_trees + _SLOT_WORDS * n_slots
    at_nodes = at_cuts + (0 if cuts else n_cuts)
    node.require(at_nodes + (2 + wide) * n_nodes == table.nelem, "table size")
    node.require(n_slots <= ranks.nelem and n_trees <= leaves.nelem, "scratch")
    _check_slots(node, table.data, n_trees, (n_slots, n_features, n_cuts))
    reference_bits, left_shift, right_word = (29, 0, 2) if wide else (14, 15, 1)
    p = block(
        "trees.check",
        nodes=n_nodes,
        node_start=at_nodes,
        words_per_node=2 + wide,
        rank_bits=rank_bits,
        reference_bits=reference_bits,
        left_shift=left_shift,
        right_word=right_word,
        check_slots=n_slots,
        leaves=n_leaves,
    )
    _check_nodes(node, table.data, p, n_trees)

    def rank_block(x_start):
        return block(
            "trees.rank",
            x_start=x_start,
            slots=n_slots,
            slot_start=n_trees,
            cut_start=at_cuts,
            magnitude_mask=0x7FFFFFFF,
            infinity=0x7F800000,
        )

    def walk_block():
        return block(
            "trees.walk",
            trees=n_trees,
            node_start=at_nodes,
            words_per_node=2 + wide,
            rank_bits=rank_bits,
            reference_bits=reference_bits,
            left_shift=left_shift,
            right_word=right_word,
        )

    return rank_block, walk_block


def _check_slots(node, table, at, extents):
    n_slots, n_features, n_cuts = extents
    for i in range(at, at + _SLOT_WORDS * n_slots, _SLOT_WORDS):
        first, negative, n = table[i + 1], table[i + 2], table[i + 3]
        node.require(0 <= table[i] >> 1 < n_features, "a feature")
        node.require(0 <= negative <= n and 0 <= first <= n_cuts - n, "a slot's cuts")


def _check_nodes(node, table, p, n_trees):
    for tree in range(n_trees):
        ref = table[tree]
        last = p[_LEAVES] if ref & _LEAF else p[_CHECK_NODES]
        node.require(0 <= ref < 2 * _LEAF and ref & (_LEAF - 1) < last, "a root")
    bad = words(0)
    forms.get("trees").check(table, table, bad, p)
    node.require(not bad[0], "a node")
