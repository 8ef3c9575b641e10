"""Which leaves samples lead to: the table of decision trees of kernels trees and trees_float.

A feature is looked up in its sorted cuts once a sample; walks then compare small integers. The
table is int32: roots (a node's number, or 2**29 + a leaf's), slots, cuts, nodes: see loops/trees.
"""

from .. import forms
from ..parameters import block

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
_LEAF = 1 << 29  # in a root


class Walker:
    """Writes the leaf of each tree to `leaves`, after the table was found to be sound.

    x: Tensor (N, F); scratch: int32 Tensors of slots, of trees; n_leaves: a leaf's number is below
    it; cuts: a float64 Tensor in the place of those in the table, for a float64 x. Raises
    ModelError.
    """

    def __init__(self, node, scratch, n_leaves, cuts=None):
        x, table = node.inputs[:2]
        n, self.n_features, _, n_trees, n_slots = node.extents(0, _CUTS)
        n_cuts, n_nodes, wide, rank_bits = node.extents(_CUTS, _N_PARAMS - _CUTS)
        ranks, leaves = scratch
        node.expect_dtype("int32", table, ranks, leaves)
        node.require(wide < 2 and rank_bits < 30, "flags")
        node.require(n * self.n_features == x.nelem and n_trees > 0, "sizes or no trees")
        at_cuts = n_trees + _SLOT_WORDS * n_slots
        at_nodes = at_cuts + (0 if cuts else n_cuts)
        words = 2 + wide
        node.require(at_nodes + words * n_nodes == table.nelem, "table size")
        node.require(n_slots <= ranks.nelem and n_trees <= leaves.nelem, "scratch")
        _check_slots(node, table.data, n_trees, (n_slots, self.n_features, n_cuts))
        walk = [at_nodes, words, rank_bits] + ([29, 0, 2] if wide else [14, 15, 1])
        _check_nodes(node, table.data, block(n_nodes, *walk + [n_slots, n_leaves]), n_trees)
        self._bind(x.data if cuts else x.view("i"), table.data, ranks.data, leaves.data)
        self._rank_p = block(0, n_slots, n_trees, at_cuts, 0x7FFFFFFF, 0x7F800000)
        self._walk_p = block(n_trees, *walk)
        if cuts:
            node.require(n_cuts <= cuts.nelem, "cuts")
            self._w = (table.data, cuts.data)
            self._rank = forms.get("tree_values").rank_doubles

    def _bind(self, x, table, ranks, leaves):
        self._x, self._table, self._ranks, self.leaves = x, table, ranks, leaves
        self._w = table
        loops = forms.get("trees")
        self._rank, self._walk = loops.rank, loops.walk

    def walk(self, sample):
        self._rank_p[0] = sample * self.n_features
        self._rank(self._x, self._w, self._ranks, self._rank_p)
        self._walk(self._ranks, self._table, self.leaves, self._walk_p)


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
    forms.get("trees").check(table, table, bad, p)
    node.require(not bad[0], "a node")
