"""Lower TreeEnsemble and its classifier and regressor to kernels trees and trees_float."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from onnx import numpy_helper

from ..errors import Problem
from ..ir import Tensor
from . import ML, lowers
from ._dtypes import DOUBLE, FLOAT, INT32
from ._ml_scores import (
    NEGATED,
    ONE_MINUS,
    as_float,
    emit_classes,
    emit_labels,
    emit_pair,
    emit_transform,
    labels_of,
    raw_scores,
    rows_of,
    transform_of,
)
from ._ml_trees import LEQ, MEMBER, Branch, Forest, pack
from ._tree_leaves import AVERAGE, MAX, MIN, SUM, Leaves, pack_exact, pack_floats

_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


@lowers("TreeEnsembleClassifier", domain=ML)
@lowers("TreeEnsembleClassifier", domain=ML, objects=True)
def lower_classifier(node):
    """Lower TreeEnsembleClassifier. Two classes with weights only for the first are one score."""
    labels = labels_of(node, "classlabels_int64s")
    ids, weights = node.attr("class_ids", []), _floats(node, "class_weights")
    forest = _read_forest(node, "class", ids, weights)
    base = _floats(node, "base_values")
    n, transform = len(labels), transform_of(node)
    if n == 1:
        raise Problem("a classifier of one class")
    if n == 2 and set(ids) == {0}:
        if len(base) > 1:
            raise Problem("two base_values where only one class has weights")
        positive = bool(min(weights, default=0) >= 0)
        _emit_two_classes(node, forest, base, positive, labels)
        return
    if n == 2 and set(ids) == {1}:
        raise Problem("two classes of which only the second has weights")
    if len(base) not in (0, n):
        raise Problem(f"{len(base)} base_values for {n} classes")
    rows = rows_of(node.inputs[0])[0]
    emit_classes(
        node, transform, labels, rows, lambda raw: _emit_trees(node, forest, SUM, base, raw)
    )


def _emit_two_classes(node, forest, base, positive, labels):
    """Emit scores and labels of two classes from one score x.

    If weights are positive the scores are 1 - x and x, and the second class is chosen for x > 1/2;
    else they are -x and x, and x > 0 decides. Kernel trees computes both if sums are exact, else
    class_pair does.

    Args:
        node: the TreeEnsembleClassifier.
        forest: its trees.
        base: base values: one or none.
        positive: True if no weight is negative.
        labels: the two classes.
    """
    transform = transform_of(node)
    rows = rows_of(node.inputs[0])[0]
    kind, halves = (ONE_MINUS, 1) if positive else (NEGATED, 0)
    second = replace(forest, leaves=[[(1, w) for _, w in leaf] for leaf in forest.leaves])
    bases = np.array([halves, base[0] if len(base) else 0], np.float32)
    plain = transform not in ("PROBIT", "LOGISTIC")
    if not (plain or transform == "LOGISTIC" and not positive) or not _is_exact(second, bases):
        raw = node.temp(FLOAT, (rows, 1))
        _emit_trees(node, forest, SUM, base, raw)
        emit_pair(node, transform, kind, halves, raw, labels, node.outputs)
        return
    label, scores = (*node.outputs, None)[:2]
    scores = scores or node.temp(FLOAT, (rows, 2))
    raw = scores if plain else node.temp(FLOAT, (rows, 2))
    _emit_trees(node, second, SUM, bases, raw, mirrored=True)
    emit_labels(node, raw, labels, label)
    emit_transform(node, "NONE" if plain else transform, raw, scores, 2)


def _is_exact(forest, base):
    return (
        pack_exact(forest.leaves, range(len(forest.leaves)), base, 1, len(forest.roots))
        is not None
    )


@lowers("TreeEnsembleRegressor", domain=ML)
def lower_regressor(node):
    name = node.attr("aggregate_function", "SUM")
    if name not in _AGGREGATES:
        raise Problem(f"aggregate_function {name}")
    ids, weights = node.attr("target_ids", []), _floats(node, "target_weights")
    forest = _read_forest(node, "target", ids, weights)
    _regress(node, forest, _AGGREGATES.index(name), _floats(node, "base_values"))


@lowers("TreeEnsemble", domain=ML)
def lower_ensemble(node):
    """Lower TreeEnsemble, which lists inner nodes and leaves apart; trees start at tree_roots."""
    aggregate = node.attr("aggregate_function", SUM)
    if not 0 <= aggregate < len(_AGGREGATES):
        raise Problem(f"aggregate_function {aggregate}")
    dtype = np.float64 if node.inputs[0].dtype == DOUBLE else np.float32
    branches = _inner_nodes(node, dtype)
    weights = _floats(node, "leaf_weights", dtype)
    leaves = [[(t, w)] for t, w in zip(node.attr("leaf_targetids"), weights, strict=True)]
    forest = Forest(branches, list(node.attr("tree_roots")), leaves)
    _check_references(forest)
    if dtype == np.float64:
        if transform_of(node) != "NONE":
            raise Problem("a post_transform in float64", "cast the input to float32")
        _emit_trees(node, forest, aggregate, np.zeros(0), node.outputs[0], dtype)
    else:
        _regress(node, forest, aggregate, np.zeros(0, np.float32))


def _inner_nodes(node, dtype) -> list[Branch]:
    """Return the inner nodes of TreeEnsemble, from attributes nodes_*."""
    modes = numpy_helper.to_array(node.attr("nodes_modes")).tolist()
    splits, members = _floats(node, "nodes_splits", dtype), _members(node, dtype)
    features, missing = node.attr("nodes_featureids"), _missing(node, len(modes))
    ends = []
    for side in ("true", "false"):
        pairs = zip(
            node.attr(f"nodes_{side}nodeids"), node.attr(f"nodes_{side}leafs"), strict=True
        )
        ends.append([~number if is_leaf else number for number, is_leaf in pairs])
    if any(not LEQ <= mode <= MEMBER for mode in modes):
        raise Problem("a node mode that ONNX does not have")
    if modes.count(MEMBER) > len(members):
        raise Problem("membership_values has fewer sets than nodes with BRANCH_MEMBER")
    columns = zip(modes, features, splits, *ends, missing, strict=True)
    branches = [Branch(*column) for column in columns]
    for b in branches:
        if b.mode == MEMBER:
            b.members = members.pop(0)
    return branches


def _missing(node, n) -> list[bool]:
    """Return nodes_missing_value_tracks_true for each node. Missing entries are False."""
    values = node.attr("nodes_missing_value_tracks_true", [])
    return [i < len(values) and values[i] == 1 for i in range(n)]


def _members(node, dtype):
    """Return the sets of membership_values, which NaN separates."""
    sets: list[list[np.floating]] = [[]]
    for v in _floats(node, "membership_values", dtype):
        if np.isnan(v):
            sets.append([])
        else:
            sets[-1].append(v)
    return sets


def _check_references(forest):
    ends = [e for b in forest.branches for e in (b.on_true, b.on_false)]
    for e in ends + forest.roots:
        if not -len(forest.leaves) <= e < len(forest.branches):
            raise Problem("a node refers to a node or leaf that does not exist")


def _floats(node, name, dtype=np.float32) -> np.ndarray:
    """Return an attribute of floats, or the tensor attribute that replaces it."""
    for value in (node.attr(name), node.attr(name + "_as_tensor")):
        if value is not None and len(getattr(value, "dims", value)):
            data = value if isinstance(value, (list, tuple)) else numpy_helper.to_array(value)
            return np.asarray(data, dtype).reshape(-1)
    return np.zeros(0, dtype)


def _read_forest(node, kind, ids, weights) -> Forest:
    """Return the forest of opsets 1 to 3, which list nodes by tree and number.

    Args:
        node: the node.
        kind: 'class' or 'target', the prefix of the attributes with the weights of leaves.
        ids: attribute with the class or target of each weight.
        weights: the weights.
    """
    keys = list(zip(node.attr("nodes_treeids"), node.attr("nodes_nodeids"), strict=True))
    modes = [m.decode() if isinstance(m, bytes) else m for m in node.attr("nodes_modes")]
    _check_lengths(node, len(keys))
    inner = [i for i, mode in enumerate(modes) if mode != "LEAF"]
    refs = {keys[i]: n for n, i in enumerate(inner)}
    leaf_keys = [key for key, mode in zip(keys, modes, strict=True) if mode == "LEAF"]
    refs |= {key: ~n for n, key in enumerate(leaf_keys)}
    if len(refs) != len(keys):
        raise Problem("a tree has two nodes of one number")
    leaves: list[list] = [[] for _ in leaf_keys]
    owners = zip(node.attr(f"{kind}_treeids", []), node.attr(f"{kind}_nodeids", []), strict=True)
    for key, target, weight in zip(owners, ids, weights, strict=True):
        if key not in refs:
            raise Problem(f"tree {key[0]} has no node {key[1]} for a weight")
        if refs[key] < 0:  # old exporters give inner nodes weights as well
            leaves[~refs[key]].append((target, weight))
    roots = [refs[k] for i, k in enumerate(keys) if i == 0 or k[0] != keys[i - 1][0]]
    return Forest(_branches(node, keys, modes, inner, refs), roots, leaves)


_COLUMNS = ("modes", "featureids", "values", "truenodeids", "falsenodeids")


def _check_lengths(node, n):
    """Raise Problem unless each nodes_* has a value for each node."""
    for name in _COLUMNS:
        values = node.attr(f"nodes_{name}")
        values = _floats(node, "nodes_values") if name == "values" else values or ()
        if len(values) != n:
            raise Problem(f"nodes_{name} has {len(values)} values for {n} nodes")


def _branches(node, keys, modes, inner, refs) -> list[Branch]:
    """Return the inner nodes of opsets 1 to 3, from attributes nodes_*.

    Args:
        node: the node.
        keys: (tree, number) of all nodes.
        modes: their comparisons, "LEAF" for a leaf.
        inner: indices of the inner nodes.
        refs: {key: index of the inner node, or ~index of the leaf}.
    """
    values, features = _floats(node, "nodes_values"), node.attr("nodes_featureids")
    true, false = node.attr("nodes_truenodeids"), node.attr("nodes_falsenodeids")
    missing = _missing(node, len(keys))
    branches = []
    for i in inner:
        ends = [(keys[i][0], true[i]), (keys[i][0], false[i])]
        if any(end not in refs for end in ends):
            raise Problem("a node refers to a node that does not exist")
        if modes[i] not in _MODES:
            raise Problem(f"node mode {modes[i]}")
        both = [refs[end] for end in ends]
        branches.append(Branch(_MODES.index(modes[i]), features[i], values[i], *both, missing[i]))
    return branches


def _regress(node, forest, aggregate, base):
    """Emit a regression. As in onnxruntime, base values count only if all targets have one."""
    n, transform = node.attr("n_targets", 1), transform_of(node)
    out = node.outputs[0]
    if n < 1 or out.shape[1:] != (n,):
        raise Problem(f"n_targets {n} for an output of {list(out.shape)}")
    raw = raw_scores(node, transform, out, n)
    _emit_trees(node, forest, aggregate, base if len(base) == n else base[:0], raw)
    emit_transform(node, transform, raw, out, n)


def _emit_trees(
    node, forest, aggregate, base, out: Tensor, dtype=np.float32, mirrored: bool = False
):
    """Emit kernel trees if the sums of a forest are exact, else trees_float.

    Args:
        node: the node to lower.
        forest: the trees.
        aggregate: how the trees' weights are combined.
        base: base values.
        out: (rows, targets).
        dtype: dtype of features and thresholds.
        mirrored: target 0 is its base minus target 1.
    """
    x = as_float(node, node.inputs[0]) if dtype == np.float32 else node.inputs[0]
    rows, n_features = rows_of(x)
    n = out.shape[1]
    if any(not 0 <= b.feature < n_features for b in forest.branches):
        raise Problem(f"a node reads a feature that is not among {n_features}")
    if any(not 0 <= t < n for leaf in forest.leaves for t, _ in leaf):
        raise Problem(f"a leaf's target or class is not among {n}")
    if not forest.roots:
        raise Problem("no trees")
    base = np.resize(base, n).astype(dtype) if len(base) else np.zeros(n, dtype)
    table = pack(forest, lambda used: _leaves(forest, used, base, aggregate, mirrored), dtype)
    arrays = [table.words, *table.leaves.arrays]
    arrays += [] if table.cuts is None else [table.cuts]
    scratch = [node.temp(INT32, (max(table.n_slots, 1),))]
    scratch.append(node.temp(INT32, (table.n_trees + table.leaves.n_words,)))
    tree = {
        "n": rows,
        "features": n_features,
        "targets": n,
        "trees": table.n_trees,
        "slots": table.n_slots,
        "cuts": table.n_cuts,
        "nodes": table.n_nodes,
        "wide": table.wide,
        "rank_bits": table.rank_bits,
    }
    inputs = [x, *map(node.constant, arrays)]
    leaves = table.leaves
    node.emit(leaves.kernel, inputs, [out], scratch=scratch, tree=tree, **leaves.params)


def _leaves(forest, used, base, aggregate, mirrored) -> Leaves:
    """Return the packed leaves: for exact sums if these are possible, else as floats.

    Args:
        forest: the trees.
        used: numbers of the leaves in use.
        base: the base value of each target.
        aggregate: how weights of a target are combined: SUM, AVERAGE, MIN or MAX.
        mirrored: target 0 is its base minus target 1.
    """
    leaves = None
    if aggregate not in (MIN, MAX) and base.dtype == np.float32:
        n_trees = len(forest.roots)
        divisor = n_trees if aggregate == AVERAGE else 1
        leaves = pack_exact(forest.leaves, used, base, divisor, n_trees, mirrored)
    return leaves or pack_floats(forest.leaves, used, base, aggregate, base.dtype)
