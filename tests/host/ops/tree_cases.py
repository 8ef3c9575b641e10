"""Random tree ensembles as nodes of a model."""

import itertools

import numpy as np
from onnx import numpy_helper

from tests.host.ops.ml_node import MlNode

MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]
BOTH = (np.int64, np.float32)
N_FEATURES = 5
# Where comparisons of floats could go wrong: zeros, the least numbers, neighbours, infinities.
CUTS = np.array([0.0, -0.0, 1.4e-45, -1.4e-45, 1, 1.0000001, -1, -2.5, 3e38, np.inf], np.float32)
LABELS = [7, -3, 1 << 40, 0]


def samples(rng, n=24):
    x = rng.standard_normal((n, N_FEATURES)).astype(np.float32)
    special = np.concatenate([CUTS, [-np.inf, np.nan, -3e38, 0.99999994]]).astype(np.float32)
    chosen = rng.choice(special, x.shape)
    return np.where(rng.random(x.shape) < 0.6, chosen, x)


def forest(rng, n_trees=4, depth=4, modes=MODES, missing=True):
    """Return (nodes_* attributes of opsets 1 to 3, [(tree, node) of each leaf])."""
    rows, leaves = [], []
    for tree in range(n_trees):
        count = itertools.count(1)
        todo = [(0, depth)]
        while todo:
            number, levels = todo.pop(0)
            is_leaf = levels == 0 or rng.random() < 0.2
            ends = (0, 0) if is_leaf else (next(count), next(count))
            todo += [] if is_leaf else [(end, levels - 1) for end in ends]
            leaves += [(tree, number)] if is_leaf else []
            value = rng.choice(CUTS) if rng.random() < 0.5 else rng.standard_normal()
            mode = "LEAF" if is_leaf else str(rng.choice(modes))
            feature = int(rng.integers(N_FEATURES))
            rows.append((tree, number, mode, feature, float(value), *ends))
    names = ["treeids", "nodeids", "modes", "featureids", "values", "truenodeids", "falsenodeids"]
    attrs = {f"nodes_{n}": list(c) for n, c in zip(names, zip(*rows, strict=True), strict=True)}
    if missing:
        flags = rng.integers(0, 2, len(rows))
        attrs["nodes_missing_value_tracks_true"] = [int(f) for f in flags]
    return attrs, leaves


def with_weights(rng, kind, attrs, leaves, targets, low=0.0):
    """Return attrs with a weight of each of these targets at each leaf."""
    owners = [(tree, node, t) for tree, node in leaves for t in targets]
    n_trees = len({tree for tree, _ in leaves})
    weights = rng.uniform(low, 1, len(owners)).astype(np.float32) / np.float32(n_trees)
    columns = zip(*owners, strict=True)
    results = {
        f"{kind}_{n}": list(c) for n, c in zip(("treeids", "nodeids", "ids"), columns, strict=True)
    }
    return {**attrs, **results, f"{kind}_weights": [float(w) for w in weights]}


def regressor(rng, n_targets=1, opset=3, base=None, x=None, **attrs):
    nodes = with_weights(rng, "target", *forest(rng), range(n_targets))
    if base is not None:
        attrs["base_values"] = base
    x = samples(rng) if x is None else x
    return MlNode("TreeEnsembleRegressor", [x], {**nodes, "n_targets": n_targets, **attrs}, opset)


def classifier(rng, ids, n_classes, low=0.0, opset=3, base=None, **attrs):
    nodes = with_weights(rng, "class", *forest(rng), ids, low)
    if base is not None:
        attrs["base_values"] = base
    attrs = {**nodes, "classlabels_int64s": LABELS[:n_classes], **attrs}
    return MlNode("TreeEnsembleClassifier", [samples(rng)], attrs, opset, dtypes=BOTH)


def ensemble(rng, modes=range(6), opset_dtype=np.float32, **attrs):
    """Return a TreeEnsemble of opset 5, made of a random forest of the older kind."""
    nodes, leaves = forest(rng, modes=[str(m) for m in modes])
    keys = list(zip(nodes["nodes_treeids"], nodes["nodes_nodeids"], strict=True))
    inner = [i for i, m in enumerate(nodes["nodes_modes"]) if m != "LEAF"]
    places = {keys[i]: n for n, i in enumerate(inner)}
    results = {"tree_roots": []}
    for side in ("true", "false"):
        ends = [(keys[i][0], nodes[f"nodes_{side}nodeids"][i]) for i in inner]
        results[f"nodes_{side}leafs"] = [int(e in leaves) for e in ends]
        results[f"nodes_{side}nodeids"] = [
            places[e] if e in places else leaves.index(e) for e in ends
        ]
    results["tree_roots"] = [n for key, n in places.items() if key[1] == 0]
    results["nodes_featureids"] = [nodes["nodes_featureids"][i] for i in inner]
    flags = nodes["nodes_missing_value_tracks_true"]
    results["nodes_missing_value_tracks_true"] = [flags[i] for i in inner]
    codes = [int(nodes["nodes_modes"][i]) for i in inner]
    tensors = {"nodes_modes": np.array(codes, np.uint8)}
    splits = [nodes["nodes_values"][i] for i in inner]
    members = []
    for i, code in enumerate(codes):
        if code == 6:
            splits[i] = 0.0
            chosen = rng.choice([-2, -1, 0, 1, 1.5, 2, 3], 3, replace=False)
            members += [float(v) for v in chosen] + [np.nan]
    tensors["nodes_splits"] = np.array(splits, opset_dtype)
    if members:
        tensors["membership_values"] = np.array(members, opset_dtype)
    tensors["leaf_weights"] = rng.uniform(0, 0.25, len(leaves)).astype(opset_dtype)
    results["leaf_targetids"] = [int(t) for t in rng.integers(0, 3, len(leaves))]
    results |= {name: numpy_helper.from_array(v, name) for name, v in tensors.items()}
    x = samples(rng).astype(opset_dtype)
    attrs = {**results, "n_targets": 3, **attrs}
    return MlNode("TreeEnsemble", [x], attrs, dtypes=(opset_dtype,), opset=5)
