"""Tree ensembles on MicroPython, against onnxruntime."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from onnx import numpy_helper

from tests.host.device import small
from tests.host.ops.against_ort import compare
from tests.host.ops.ml_node import MlNode
from tests.host.ops.tree_cases import (
    LABELS,
    N_FEATURES,
    TRANSFORMS,
    classifier,
    ensemble,
    forest,
    regressor,
    samples,
    with_weights,
)
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


@on_targets
def test_tree_regressors_agree(target):
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
def test_a_target_may_have_no_weights(target):
    """Its output is its base value, as ONNX says; onnxruntime returns 0."""
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
def test_tree_classifiers_agree(target):
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
    """Return onnxruntime's formula in float64: its float32 loses most digits near 0."""
    y = 2 * p.astype(np.float64) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        ln = np.log((1 - y) * (1 + y))
        half = 2 / (np.pi * 0.147) + ln / 2
        root = np.sqrt(np.sqrt(half * half - ln / 0.147) - half)
    return (np.sqrt(2) * np.where(y < 0, -root, root)).astype(np.float32)


@on_targets
def test_probit_agrees_with_the_formula(target):
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
def test_two_classes_may_have_separate_weights(target):
    """The label has the largest score; onnxruntime returns 1 if the second one is positive."""
    rng = np.random.default_rng(3)
    cases = [classifier(rng, [0, 1], 2, -1.0, post_transform=t) for t in TRANSFORMS[:4]]
    expected = []
    for case in cases:
        _, scores = case.expected()
        expected.append([np.array(LABELS)[scores.argmax(1)], scores])
    compare(target, cases, expected)


@on_targets
def test_ensembles_of_opset_5_agree(target):
    rng = np.random.default_rng(4)
    cases = [ensemble(rng, aggregate_function=a) for a in range(4)]
    cases += [ensemble(rng, post_transform=t) for t in (0, 3, 4)]
    compare(target, cases)
    # ONNX has SOFTMAX = 1 and LOGISTIC = 2; onnxruntime takes these numbers the other way round
    nodes = ensemble(rng)
    cases = [replace(nodes, attrs={**nodes.attrs, "post_transform": t}) for t in (1, 2)]
    compare(target, cases, [case.expected() for case in reversed(cases)])


@pytest.mark.parametrize("target", ["unix", "unix-plain"], indirect=True)
def test_ensembles_of_doubles_agree(target):
    """Thresholds lie between two floats."""
    rng = np.random.default_rng(12)
    cases = [ensemble(rng, opset_dtype=np.float64, aggregate_function=a) for a in range(4)]
    for case in cases:
        x = case.inputs[0]
        x[:8] = x[8:16] + 1e-12
    compare(target, cases)


@on_targets
def test_set_membership_is_tested(target):
    """The reference is the definition in numpy, with one set test a tree."""
    rng = np.random.default_rng(8)
    x = rng.choice([-1.0, -0.0, 0.5, 2, 3, 7, np.nan], (40, N_FEATURES)).astype(np.float32)
    sets = [[2, 3, 0], [0.5], [-1, 7, 2, 3, 0.5], [9]]
    result = np.zeros((40, 1), np.float32)
    for i, (values, missing) in enumerate(zip(sets, [0, 1, 0, 1], strict=True)):
        hit = np.isin(x[:, i], values) | (np.isnan(x[:, i]) & bool(missing))
        result[:, 0] += np.where(hit, 1 << i, 0).astype(np.float32)
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
    compare(target, [MlNode("TreeEnsemble", [x], attrs, 5)], [[result]], rtol=0, atol=0)


@on_targets
def test_large_trees_use_long_references(target):
    """A comb has 17,000 nodes and as many different leaves."""
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
        ({"nodes_truenodeids": [2, 0, 0], "nodes_modes": ["BRANCH_LEQ"] * 3}, "does not exist"),
        ({"nodes_featureids": [9, 0, 0]}, "feature"),
        ({"target_ids": [0, 5]}, "target"),
        ({"nodes_modes": ["BRANCH_ODD", "LEAF", "LEAF"]}, "node mode"),
        ({"post_transform": "LOG"}, "post_transform"),
        ({"nodes_nodeids": [0, 1, 1]}, "one number"),
    ],
)
def test_nonsensical_nodes_are_refused(change, reason):
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


@pytest.mark.slow
@on_targets
def test_a_damaged_file_does_no_harm(target):
    rng = np.random.default_rng(5)
    for case in (classifier(rng, [0], 2), ensemble(rng, post_transform=4)):
        data = convert(case.model(), Options(strip=True)).data
        for mode, amount in (("words", "2"), ("contents", "1"), ("several", "200")):
            report = small.damage(target, data, mode, amount)
            assert report.ok, report
