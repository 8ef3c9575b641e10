"""Sums of leaves are exact, in integers, without a heap."""

from fractions import Fraction

import numpy as np
import pytest
from onnx import TensorProto, helper
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from tests.device.networks import forest_node
from tests.host.device import small
from tests.host.ops.against_ort import compare
from tests.host.ops.ml_node import MlNode
from tests.host.ops.tree_cases import classifier
from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import open_session
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
N_TREES, N_TARGETS, ROWS = 30, 3, 40


def nearest(exact):
    """Return the float32 nearest to a Fraction, ties to even."""
    if not exact:
        return np.float32(0)
    exponent = max(abs(exact).numerator.bit_length() - exact.denominator.bit_length() - 25, -149)
    while abs(exact) / Fraction(2) ** exponent >= 1 << 24:
        exponent += 1
    units = round(exact / Fraction(2) ** exponent)  # halves to even
    if abs(units) * Fraction(2) ** exponent >= Fraction(2) ** 128:
        return np.float32(np.inf if units > 0 else -np.inf)
    return np.float32(np.ldexp(float(units), exponent))


def stumps(rng, low, high, **attrs):
    """Return (node, weights (tree, side, target)): tree i tests if feature i is at most 0.

    Weights are within 2**low and 2**high, of either sign; some leaves have none.
    """
    sides = (N_TREES, 2, N_TARGETS)
    size = rng.uniform(low, high, sides)
    weights = (np.exp2(size) * rng.choice([-1, 1], sides)).astype(np.float32)
    weights[rng.random(sides) < 0.2] = 0
    trees = np.arange(N_TREES)
    keys = {"treeids": np.repeat(trees, 3), "nodeids": np.tile([0, 1, 2], N_TREES)}
    keys |= {"featureids": np.repeat(trees, 3), "truenodeids": np.tile([1, 0, 0], N_TREES)}
    keys |= {"falsenodeids": np.tile([2, 0, 0], N_TREES)}
    owners = {"treeids": trees[:, None, None], "nodeids": np.array([1, 2])[:, None]}
    owners |= {"ids": np.arange(N_TARGETS)}
    nodes = {f"nodes_{k}": v.tolist() for k, v in keys.items()}
    nodes |= {f"target_{k}": np.broadcast_to(v, sides).ravel().tolist() for k, v in owners.items()}
    nodes |= {"nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * N_TREES}
    nodes |= {"nodes_values": [0.0] * 3 * N_TREES, "n_targets": N_TARGETS}
    nodes |= {"target_weights": weights.ravel().tolist()}
    x = rng.choice(np.array([-1, 1], np.float32), (ROWS, N_TREES))
    return MlNode("TreeEnsembleRegressor", [x], {**nodes, **attrs}), weights


CASES = [
    ("SUM", -12, -3, None),
    ("SUM", -70, 40, [0.0, 1e-20, -3.5]),
    ("SUM", 122, 127.9, None),
    ("SUM", -149, -120, [1e-44, 0.0, -1e-38]),
    ("AVERAGE", -12, -3, None),
    ("AVERAGE", -20, 20, [0.1, -1e9, 1e-30]),
    ("AVERAGE", -148, -124, None),
]


@on_targets
def test_sums_are_exact(target):
    """Weights have one size or all sizes; sums are denormal or exceed the largest float."""
    rng = np.random.default_rng(21)
    jobs, expected = [], []
    for aggregate, low, high, base in CASES:
        attrs = {"aggregate_function": aggregate} | ({"base_values": base} if base else {})
        node, weights = stumps(rng, low, high, **attrs)
        converted = convert(node.model(), Options(strip=True))
        assert [s.kernel for s in converted.graph.steps] == ["trees"]
        jobs.append(Job(converted.data, [[node.inputs[0].tobytes()]]))
        sides = (node.inputs[0] > 0).astype(int)
        exact = np.vectorize(Fraction.from_float)(weights.astype(np.float64))
        base = [Fraction.from_float(float(np.float32(b))) for b in base or [0] * N_TARGETS]
        divisor = N_TREES if aggregate == "AVERAGE" else 1
        sums = exact[np.arange(N_TREES), sides].sum(1) / divisor + base
        expected.append(np.vectorize(nearest, otypes=[np.float32])(sums))
    assert np.isinf(expected[2]).any() and (np.abs(expected[3]) < 1e-38).any()
    for outcome, correct in zip(run_jobs(target, jobs), expected, strict=True):
        assert not outcome.error, outcome.message
        got = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(correct.shape)
        np.testing.assert_array_equal(got, correct)


@on_targets
def test_weights_that_are_not_finite_are_left_to_floats(target):
    rng = np.random.default_rng(22)
    with_base, _ = stumps(rng, -3, 0, base_values=[np.inf, 0.5, -np.inf])
    with_weights, _ = stumps(rng, -3, 0)
    with_weights.attrs["target_weights"][7:9] = [np.nan, -np.inf]
    for node in (with_base, with_weights):
        assert [s.kernel for s in convert(node.model(), Options()).graph.steps] == ["trees_float"]
    compare(target, [with_base, with_weights])


@pytest.fixture(scope="module")
def forest():
    """Return (a model of 100 trees that classifies digits, rows that it was not trained on)."""
    digits = load_digits()
    x = digits.data.astype(np.float32)
    trained = RandomForestClassifier(100, max_depth=9, random_state=3)
    trained.fit(x[:900], digits.target[:900])
    outputs = [("label", TensorProto.INT64, [1]), ("p", TensorProto.FLOAT, [1, 10])]
    infos = [helper.make_tensor_value_info(*out) for out in outputs]
    values = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])
    graph = helper.make_graph([forest_node(trained)], "forest", [values], infos)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8), x[900:]


def answers(target, model, rows):
    """Return (labels, scores (rows, 10))."""
    [outcome] = run_jobs(
        target, [Job(convert(model, Options(strip=True)).data, [[x.tobytes()] for x in rows])]
    )
    assert not outcome.error, outcome.message
    runs = [run.outputs for run in outcome.runs]
    labels = [np.frombuffer(label, np.int64)[0] for label, _ in runs]
    return np.array(labels), np.array([np.frombuffer(p, np.float32) for _, p in runs])


@pytest.mark.slow
@on_targets
def test_a_hundred_trees_have_the_same_bits_everywhere(target, forest, ready_target):
    """They have the bits of the plain form, and onnxruntime's labels."""
    model, rows = forest
    [trees] = [a.ints for a in model.graph.node[0].attribute if a.name == "nodes_treeids"]
    assert len(set(trees)) == 100
    session, rows = open_session(model), rows[:100]
    expected = [session.run(None, {"x": x[None]}) for x in rows]
    labels, scores = answers(target, model, rows)
    np.testing.assert_array_equal(labels, [label[0] for label, _ in expected])
    np.testing.assert_allclose(scores, [p[0] for _, p in expected], 1e-5, 1e-7)
    if target.name != "unix-plain":
        plain = answers(ready_target("unix-plain"), model, rows)[1]
        assert scores.tobytes() == plain.tobytes()


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_a_hundred_trees_run_without_a_heap(target, forest):
    model, rows = forest
    files = {"model.bin": convert(model, Options(strip=True)).data, "x.bin": rows[0].tobytes()}
    printed = small.run(target, small.SCRIPTS / "allocation.py", files)
    allocated, kept, output = printed.split()
    assert (allocated, kept) == ("0", "0")
    [label, _] = open_session(model).run(None, {"x": rows[:1]})
    assert np.frombuffer(bytes.fromhex(output), np.int64) == label


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize("low", [0.0, -1.0])
def test_two_classes_run_without_a_heap(target, low):
    """Only the first one has weights; test_ml_trees compares with onnxruntime."""
    case = classifier(np.random.default_rng(23), [0], 2, low)
    converted = convert(case.model(), Options(strip=True, shapes={"x0": case.inputs[0].shape}))
    assert "class_pair" not in [s.kernel for s in converted.graph.steps]
    files = {"model.bin": converted.data, "x.bin": case.inputs[0].tobytes()}
    allocated, kept, output = small.run(target, small.SCRIPTS / "allocation.py", files).split()
    assert (allocated, kept) == ("0", "0")
    labels = np.frombuffer(bytes.fromhex(output), np.int64)
    np.testing.assert_array_equal(labels, case.expected()[0])
