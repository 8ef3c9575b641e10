"""Tree ensembles on MicroPython, against onnxruntime."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from onnx import numpy_helper

from tests.host.device import small
from tests.host.ops.against_ort import compare
from tests.host.ops.ml_node import MlNode
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
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
    """(nodes_* attributes of opsets 1 to 3, [(tree, node) of each leaf])"""
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
    """attrs with a weight of each of these targets at each leaf."""
    owners = [(tree, node, t) for tree, node in leaves for t in targets]
    n_trees = len({tree for tree, _ in leaves})
    weights = rng.uniform(low, 1, len(owners)).astype(np.float32) / np.float32(n_trees)
    columns = zip(*owners, strict=True)
    found = {
        f"{kind}_{n}": list(c) for n, c in zip(("treeids", "nodeids", "ids"), columns, strict=True)
    }
    return {**attrs, **found, f"{kind}_weights": [float(w) for w in weights]}


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


@on_targets
def test_regressors(target):
    rng = np.random.default_rng(1)
    cases = []
    for name, n in itertools.product(["SUM", "AVERAGE", "MIN", "MAX"], [1, 3]):
        base = [float(b) for b in rng.uniform(0, 0.1, n)]
        cases.append(regressor(rng, n, aggregate_function=name))
        cases.append(regressor(rng, n, 1, aggregate_function=name, base=base))
    for transform, n in itertools.product(TRANSFORMS[:4], [1, 3]):
        cases.append(regressor(rng, n, post_transform=transform, aggregate_function="AVERAGE"))
    compare(target, cases)


@on_targets
def test_a_target_without_weights(target):
    """It is its base value, as ONNX says; onnxruntime makes it 0."""
    rng = np.random.default_rng(6)
    cases, expected = [], []
    for name in ("SUM", "AVERAGE", "MIN", "MAX"):
        nodes = with_weights(rng, "target", *forest(rng), [0, 2])
        attrs = {**nodes, "n_targets": 4, "aggregate_function": name}
        cases.append(MlNode("TreeEnsembleRegressor", [samples(rng)], attrs))
        expected.append(cases[-1].expected())
        base = np.array([0.5, -1.5, 2.5, 3.5], np.float32)
        cases.append(replace(cases[-1], attrs={**attrs, "base_values": base.tolist()}))
        expected.append([expected[-1][0] + base])
    compare(target, cases, expected)


@on_targets
def test_classifiers(target):
    rng = np.random.default_rng(2)
    cases = []
    for transform, n in itertools.product(TRANSFORMS[:4], [3, 4]):
        cases.append(classifier(rng, range(n), n, -1.0, post_transform=transform))
        base = [float(b) for b in rng.uniform(-0.1, 0.1, n)]
        cases.append(classifier(rng, range(n), n, -1.0, 1, base, post_transform=transform))
    for transform, low in itertools.product(TRANSFORMS[:4], [0.0, -1.0]):
        cases.append(classifier(rng, [0], 2, low, post_transform=transform))
        cases.append(classifier(rng, [0], 2, low, base=[0.25], post_transform=transform))
    for dtype in (np.int32, np.int64):
        cases.append(classifier(rng, range(3), 3))
        cases[-1].inputs = [rng.integers(-2, 3, (9, N_FEATURES)).astype(dtype)]
    compare(target, cases)


def probit(p):
    """onnxruntime's formula, in float64: in its float32 what is near 0 loses most digits."""
    y = 2 * p.astype(np.float64) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        ln = np.log((1 - y) * (1 + y))
        half = 2 / (np.pi * 0.147) + ln / 2
        root = np.sqrt(np.sqrt(half * half - ln / 0.147) - half)
    return (np.sqrt(2) * np.where(y < 0, -root, root)).astype(np.float32)


@on_targets
def test_probit(target):
    rng = np.random.default_rng(7)
    plain = [regressor(rng), regressor(rng, 3), classifier(rng, range(3), 3, -0.2)]
    cases = [replace(p, attrs={**p.attrs, "post_transform": "PROBIT"}) for p in plain]
    expected = []
    for p, case in zip(plain, cases, strict=True):
        *label, scores = p.expected()
        expected.append([*label, probit(scores)])
        np.testing.assert_allclose(case.expected()[-1], expected[-1][-1], 1e-4, 1e-4)
    compare(target, cases, expected)


@on_targets
def test_two_classes_with_weights_of_their_own(target):
    """The label of the largest score; onnxruntime says 1 whenever the second one is positive."""
    rng = np.random.default_rng(3)
    cases = [classifier(rng, [0, 1], 2, -1.0, post_transform=t) for t in TRANSFORMS[:4]]
    expected = []
    for case in cases:
        _, scores = case.expected()
        expected.append([np.array(LABELS)[scores.argmax(1)], scores])
    compare(target, cases, expected)


def ensemble(rng, modes=range(6), opset_dtype=np.float32, **attrs):
    """TreeEnsemble of opset 5, from a random forest of the older kind."""
    nodes, leaves = forest(rng, modes=[str(m) for m in modes])
    keys = list(zip(nodes["nodes_treeids"], nodes["nodes_nodeids"], strict=True))
    inner = [i for i, m in enumerate(nodes["nodes_modes"]) if m != "LEAF"]
    places = {keys[i]: n for n, i in enumerate(inner)}
    found = {"tree_roots": []}
    for side in ("true", "false"):
        ends = [(keys[i][0], nodes[f"nodes_{side}nodeids"][i]) for i in inner]
        found[f"nodes_{side}leafs"] = [int(e in leaves) for e in ends]
        found[f"nodes_{side}nodeids"] = [
            places[e] if e in places else leaves.index(e) for e in ends
        ]
    found["tree_roots"] = [n for key, n in places.items() if key[1] == 0]
    found["nodes_featureids"] = [nodes["nodes_featureids"][i] for i in inner]
    flags = nodes["nodes_missing_value_tracks_true"]
    found["nodes_missing_value_tracks_true"] = [flags[i] for i in inner]
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
    found["leaf_targetids"] = [int(t) for t in rng.integers(0, 3, len(leaves))]
    found |= {name: numpy_helper.from_array(v, name) for name, v in tensors.items()}
    x = samples(rng).astype(opset_dtype)
    attrs = {**found, "n_targets": 3, **attrs}
    return MlNode("TreeEnsemble", [x], attrs, dtypes=(opset_dtype,), opset=5)


@on_targets
def test_ensembles_of_opset_5(target):
    rng = np.random.default_rng(4)
    cases = [ensemble(rng, aggregate_function=a) for a in range(4)]
    cases += [ensemble(rng, post_transform=t) for t in (0, 3, 4)]
    compare(target, cases)
    # ONNX has SOFTMAX = 1 and LOGISTIC = 2; onnxruntime takes these numbers the other way round
    nodes = ensemble(rng)
    cases = [replace(nodes, attrs={**nodes.attrs, "post_transform": t}) for t in (1, 2)]
    compare(target, cases, [case.expected() for case in reversed(cases)])


@pytest.mark.parametrize("target", ["unix", "unix-plain"], indirect=True)
def test_ensembles_of_doubles(target):
    """Cuts that lie between two floats."""
    rng = np.random.default_rng(12)
    cases = [ensemble(rng, opset_dtype=np.float64, aggregate_function=a) for a in range(4)]
    for case in cases:
        x = case.inputs[0]
        x[:8] = x[8:16] + 1e-12
    compare(target, cases)


@on_targets
def test_membership(target):
    """Against the definition, in numpy: one set test a tree."""
    rng = np.random.default_rng(8)
    x = rng.choice([-1.0, -0.0, 0.5, 2, 3, 7, np.nan], (40, N_FEATURES)).astype(np.float32)
    sets = [[2, 3, 0], [0.5], [-1, 7, 2, 3, 0.5], [9]]
    found = np.zeros((40, 1), np.float32)
    for i, (values, missing) in enumerate(zip(sets, [0, 1, 0, 1], strict=True)):
        hit = np.isin(x[:, i], values) | (np.isnan(x[:, i]) & bool(missing))
        found[:, 0] += np.where(hit, 1 << i, 0).astype(np.float32)
    members = [v for values in sets for v in [*values, np.nan]]
    tensors = {
        "nodes_modes": np.full(4, 6, np.uint8),
        "nodes_splits": np.zeros(4, np.float32),
        "membership_values": np.array(members, np.float32),
        "leaf_weights": np.array([1, 2, 4, 8, 0], np.float32),
    }
    attrs = {
        "n_targets": 1,
        "tree_roots": [0, 1, 2, 3],
        "nodes_featureids": [0, 1, 2, 3],
        "nodes_truenodeids": [0, 1, 2, 3],
        "nodes_falsenodeids": [4] * 4,
        "nodes_trueleafs": [1] * 4,
        "nodes_falseleafs": [1] * 4,
        "nodes_missing_value_tracks_true": [0, 1, 0, 1],
        "leaf_targetids": [0] * 5,
        **{name: numpy_helper.from_array(v, name) for name, v in tensors.items()},
    }
    compare(target, [MlNode("TreeEnsemble", [x], attrs, 5)], [[found]], rtol=0, atol=0)


@on_targets
def test_a_tree_too_large_for_short_references(target):
    """A comb of 17,000 nodes, and as many different leaves."""
    n = 17000
    ids = list(range(2 * n + 1))
    attrs = {
        "nodes_treeids": [0] * len(ids),
        "nodes_nodeids": ids,
        "nodes_modes": ["BRANCH_LT", "LEAF"] * n + ["LEAF"],
        "nodes_featureids": [0] * len(ids),
        "nodes_values": [float(i // 2) for i in ids],
        "nodes_truenodeids": [i + 1 if i % 2 == 0 and i < 2 * n else 0 for i in ids],
        "nodes_falsenodeids": [i + 2 if i % 2 == 0 and i < 2 * n else 0 for i in ids],
        "target_treeids": [0] * (n + 1),
        "target_nodeids": [i for i in ids if i % 2 or i == 2 * n],
        "target_ids": [0] * (n + 1),
        "target_weights": [float(i) for i in range(n + 1)],
        "n_targets": 1,
    }
    x = np.array([[-1], [0], [0.5], [9999], [16998.5], [16999], [1e9]], np.float32)
    expected = np.clip(np.floor(x) + 1, 0, n).astype(np.float32)
    compare(target, [MlNode("TreeEnsembleRegressor", [x], attrs)], [[expected]], rtol=0, atol=0)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"nodes_truenodeids": [2, 0, 0], "nodes_modes": ["BRANCH_LEQ"] * 3}, "not there"),
        ({"nodes_featureids": [9, 0, 0]}, "feature"),
        ({"target_ids": [0, 5]}, "target"),
        ({"nodes_modes": ["BRANCH_ODD", "LEAF", "LEAF"]}, "node mode"),
        ({"post_transform": "LOG"}, "post_transform"),
        ({"nodes_nodeids": [0, 1, 1]}, "one number"),
    ],
)
def test_what_is_refused(change, reason):
    attrs = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.0, 0, 0],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 7, 7],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
        "n_targets": 1,
    }
    node = MlNode("TreeEnsembleRegressor", [np.zeros((1, 5), np.float32)], {**attrs, **change})
    with pytest.raises(UnsupportedModel, match=reason):
        convert(node.model(), Options(strip=True))


@on_targets
def test_a_damaged_file_does_no_harm(target):
    rng = np.random.default_rng(5)
    for case in (classifier(rng, [0], 2), ensemble(rng, post_transform=4)):
        data = convert(case.model(), Options(strip=True)).data
        for mode, amount in (("words", "2"), ("contents", "1"), ("several", "200")):
            report = small.damage(target, data, mode, amount)
            assert report.ok, report
