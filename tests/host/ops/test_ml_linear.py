"""Linear models and support vector machines on MicroPython, against onnxruntime."""

import itertools

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.against_ort import compare
from tests.host.ops.ml_node import MlNode
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO"]
BOTH = (np.int64, np.float32)
LABELS = [7, -3, 1 << 40, 0]
KERNELS = ["LINEAR", "POLY", "RBF", "SIGMOID"]


def floats(rng, n):
    return [float(v) for v in rng.standard_normal(n).astype(np.float32)]


def linear_classifier(rng, n_rows, n_classes, x=None, **attrs):
    x = rng.standard_normal((11, 4)).astype(np.float32) if x is None else x
    attrs = {
        "coefficients": floats(rng, n_rows * x.shape[-1]),
        "intercepts": floats(rng, n_rows),
        "classlabels_ints": LABELS[:n_classes],
        **attrs,
    }
    return MlNode("LinearClassifier", [x], attrs, 1, dtypes=BOTH)


@on_targets
def test_linear_classifiers_agree(target):
    rng = np.random.default_rng(1)
    cases = []
    for transform, sizes in itertools.product(TRANSFORMS, [(1, 2), (2, 2), (4, 4)]):
        cases.append(linear_classifier(rng, *sizes, post_transform=transform))
    for dtype in (np.int32, np.int64):
        cases.append(linear_classifier(rng, 3, 3, rng.integers(-3, 4, (5, 6)).astype(dtype)))
    cases.append(linear_classifier(rng, 3, 3, floats_of(rng, 6)))
    compare(target, cases)


def floats_of(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def linear_regressor(rng, n, x=None, **attrs):
    x = floats_of(rng, 9, 5) if x is None else x
    coefficients = floats(rng, n * x.shape[-1])
    return MlNode("LinearRegressor", [x], {"coefficients": coefficients, "targets": n, **attrs}, 1)


@on_targets
def test_linear_regressors_agree(target):
    rng = np.random.default_rng(2)
    cases = [linear_regressor(rng, 1), linear_regressor(rng, 1, floats_of(rng, 7))]
    for transform, n in itertools.product(TRANSFORMS, [1, 3]):
        cases.append(linear_regressor(rng, n, intercepts=floats(rng, n), post_transform=transform))
    compare(target, cases)


def svc(rng, counts, kernel, proba=False, **attrs):
    n, n_vectors, n_features = len(counts), sum(counts), 4
    n_pairs = n * (n - 1) // 2
    attrs = {
        "classlabels_ints": LABELS[:n],
        "coefficients": floats(rng, (n - 1) * n_vectors),
        "kernel_params": [0.3, 0.5, 3.0],
        "kernel_type": kernel,
        "rho": floats(rng, n_pairs),
        "support_vectors": floats(rng, n_vectors * n_features),
        "vectors_per_class": counts,
        **attrs,
    }
    if proba:
        attrs["prob_a"] = [-abs(v) for v in floats(rng, n_pairs)]
        attrs["prob_b"] = floats(rng, n_pairs)
    return MlNode("SVMClassifier", [floats_of(rng, 6, n_features)], attrs, 1, dtypes=BOTH)


@on_targets
def test_svm_classifiers_agree(target):
    rng = np.random.default_rng(3)
    cases = []
    for kernel, counts in itertools.product(KERNELS, [[3, 2], [2, 4, 1], [1, 2, 3, 35]]):
        cases.append(svc(rng, counts, kernel))
        cases.append(svc(rng, counts, kernel, True))
    for transform, counts in itertools.product(TRANSFORMS, [[3, 2], [2, 4, 1]]):
        cases.append(svc(rng, counts, "RBF", post_transform=transform))
        cases.append(svc(rng, counts, "RBF", True, post_transform=transform))
    cases.append(svc(rng, [60, 60], "RBF"))
    for degree in (1.0, 2.0, 4.0):
        cases.append(svc(rng, [2, 2, 2], "POLY", kernel_params=[0.5, 1.0, degree]))
    # what onnxruntime couples in float32 to within 0.005 / C, rounding may end a round earlier
    compare(target, cases, rtol=1e-4, atol=1e-5)


@on_targets
def test_svm_without_vectors_agrees(target):
    rng = np.random.default_rng(4)
    cases = []
    for transform in TRANSFORMS:
        attrs = {
            "classlabels_ints": LABELS[:3],
            "coefficients": floats(rng, 12),
            "kernel_params": [0.3, 0.5, 3.0],
            "rho": floats(rng, 3),
            "post_transform": transform,
        }
        cases.append(MlNode("SVMClassifier", [floats_of(rng, 5, 4)], attrs, 1, dtypes=BOTH))
    compare(target, cases)


@on_targets
def test_svm_regressors_agree(target):
    rng = np.random.default_rng(5)
    cases = []
    for kernel, one_class in itertools.product(KERNELS, [0, 1]):
        attrs = {
            "coefficients": floats(rng, 40),
            "kernel_params": [0.2, 0.1, 2.0],
            "kernel_type": kernel,
            "n_supports": 40,
            "one_class": one_class,
            "rho": floats(rng, 1),
            "support_vectors": floats(rng, 120),
        }
        cases.append(MlNode("SVMRegressor", [floats_of(rng, 8, 3)], attrs, 1))
    attrs = {"coefficients": floats(rng, 3), "rho": [0.5], "kernel_params": [0.0, 0, 0]}
    cases.append(MlNode("SVMRegressor", [floats_of(rng, 8, 3)], attrs, 1))
    compare(target, cases)


@pytest.mark.parametrize(
    ("op", "attrs", "reason"),
    [
        ("LinearClassifier", {"classlabels_ints": [1, 2, 3]}, "2 rows .* for 3 classes"),
        ("LinearClassifier", {"classlabels_ints": [1, 2], "intercepts": [1.0]}, "intercepts"),
        ("LinearRegressor", {"targets": 3}, "in 3 rows"),
    ],
)
def test_nonsensical_nodes_are_refused(op, attrs, reason):
    attrs = {"coefficients": [1.0] * 8, **attrs}
    dtypes = BOTH if op == "LinearClassifier" else (np.float32,)
    node = MlNode(op, [np.zeros((1, 4), np.float32)], attrs, 1, dtypes=dtypes)
    with pytest.raises(UnsupportedModel, match=reason):
        convert(node.model(), Options(strip=True))


@pytest.mark.slow
@on_targets
def test_a_damaged_file_does_no_harm(target):
    rng = np.random.default_rng(6)
    cases = [
        svc(rng, [1, 2, 1], "RBF", True),
        svc(rng, [2, 1], "POLY"),
        linear_classifier(rng, 1, 2),
    ]
    for case in cases:
        case.inputs = [x[:2] for x in case.inputs]
        data = convert(case.model(), Options(strip=True)).data
        for mode, amount in (("words", "2"), ("contents", "1"), ("several", "200")):
            report = small.damage(target, data, mode, amount)
            assert report.ok, report
