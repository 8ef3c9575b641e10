"""Operators that prepare features on MicroPython, against onnxruntime and definitions."""

import itertools

import numpy as np
import pytest
from onnx import numpy_helper

from tests.host.device import small
from tests.host.ops.against_ort import compare
from tests.host.ops.ml_node import MlNode
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RNG = np.random.default_rng(1)
X = RNG.standard_normal((5, 3)).astype(np.float32)
WHOLE = RNG.integers(-3, 4, (5, 3))
NAN = np.nan


def fits(target, *arrays):
    """Return False if float64 is needed that the target lacks."""
    return target.float_bits == 64 or all(np.asarray(a).dtype != np.float64 for a in arrays)


def node(op, *inputs, out=np.float32, opset=1, fixed=(), **attrs):
    return MlNode(op, list(inputs), attrs, opset, fixed, (out,))


@on_targets
def test_scaler_agrees(target):
    each = {"scale": [0.5, 2.0, -1.0], "offset": [0.1, 0.2, 0.3]}
    one = {"scale": [0.5], "offset": [0.1]}
    kinds = [X, X[0], WHOLE, WHOLE.astype(np.int32)]
    kinds += [X.astype(np.float64)] if target.float_bits == 64 else []
    compare(target, [node("Scaler", x, **how) for x in kinds for how in (each, one)])


@on_targets
def test_normalizer_agrees(target):
    zeros = np.array([[0, 0, 0], [1, -2, 0], [-1, -2, -4]], np.float32)
    kinds = [X, X[0], zeros, WHOLE, WHOLE.astype(np.int32)]
    kinds += [X.astype(np.float64)] if target.float_bits == 64 else []
    compare(target, [node("Normalizer", x, norm=n) for x in kinds for n in ("MAX", "L1", "L2")])


@on_targets
def test_binarizer_agrees(target):
    cases = [node("Binarizer", np.array([[0.5, 0.4, 0.6]], np.float32), threshold=0.5)]
    cases.append(node("Binarizer", X))
    compare(target, cases)
    cases = [node("Binarizer", WHOLE, out=np.int64, threshold=t) for t in (1.0, 1.5, -0.5)]
    compare(target, cases, [[(WHOLE > c.attrs["threshold"]).astype(np.int64)] for c in cases])


@on_targets
def test_imputer_agrees(target):
    x = np.array([[1, NAN, 3], [NAN, 1, -1]], np.float32)
    cases = [
        node("Imputer", x, imputed_value_floats=list(v), replaced_value_float=r)
        for v, r in itertools.product([(9.0,), (7.0, 8.0, 9.0)], [1.0, NAN])
    ]
    whole = np.array([[1, 2, 3], [1 << 40, 1, -1]])
    for v, r in itertools.product([[-9], [7, 8, 1 << 50]], [1, 1 << 40]):
        attrs = {"imputed_value_int64s": v, "replaced_value_int64": r}
        cases.append(node("Imputer", whole, out=np.int64, **attrs))
    compare(target, cases, rtol=0, atol=0)


@on_targets
def test_array_feature_extractor_agrees(target):
    index = np.array([[2, 0], [1, 2]])
    cases = []
    for x in (X, X[0], WHOLE, WHOLE.astype(np.int32), RNG.standard_normal((2, 2, 3, 3))):
        x = x.astype(np.float32) if x.dtype == np.float64 else x
        for fixed in ((), (1,)):
            cases.append(node("ArrayFeatureExtractor", x, index, out=x.dtype, fixed=fixed))
    compare(target, cases, rtol=0, atol=0)


@on_targets
def test_one_hot_encoder_agrees(target):
    categories = {"cats_int64s": [3, -1, 0, 1 << 40]}
    kinds = [WHOLE, WHOLE[0], np.array([1 << 40, 5]), X * 2]
    compare(target, [node("OneHotEncoder", x, **categories) for x in kinds], rtol=0, atol=0)


@on_targets
def test_one_hot_encoder_may_refuse_unknown_categories(target):
    """scikit-learn's encoder does by default; onnxruntime raises then, too."""
    categories = {"cats_int64s": [3, -1, 0], "zeros": 0}
    known = np.array([[3, 0], [-1, 3]])
    compare(target, [node("OneHotEncoder", known, **categories)], rtol=0, atol=0)
    data = node("OneHotEncoder", known, **categories).converted([np.zeros((2, 2, 3))]).data
    jobs = [Job(data, [[x.tobytes()]]) for x in (known, known + 1, np.full((2, 2), 7))]
    assert [o.error for o in run_jobs(target, jobs)] == ["", "InputError", "InputError"]


@on_targets
def test_feature_vectorizer_agrees(target):
    """Inputs are cut, padded and whole."""
    cases = []
    for x in (X, WHOLE, WHOLE.astype(np.int32)):
        parts = [x, x[:, 1:], x[:, :1]]
        for sizes in ([3, 2, 1], [2, 2, 1], [4, 1, 2]):
            cases.append(node("FeatureVectorizer", *parts, inputdimensions=sizes))
    cases.append(node("FeatureVectorizer", X[0], X[1], inputdimensions=[3, 3]))
    compare(target, cases, rtol=0, atol=0)


def tensors(**attrs):
    return {name: numpy_helper.from_array(np.array(v), name) for name, v in attrs.items()}


@on_targets
def test_label_encoder_agrees(target):
    whole = np.array([[3, -1, 5], [1 << 40, 0, 3]])
    real = np.array([1.5, -0.0, NAN, 2, -np.inf, 0.1], np.float32)
    of_ints = {"keys_int64s": [3, 1 << 40, -1]}
    of_floats = {"keys_floats": [1.5, 0.0, 7.0, -np.inf, float(np.float32(0.1))]}
    with_nan = {"keys_floats": [1.5, NAN, 2.0]}
    cases = []
    for opset in (2, 4):
        for out, answers in ((np.int64, {"values_int64s": [1 << 50, -2, 7]}), (np.float32, {})):
            answers = answers or {"values_floats": [0.5, -2, 7], "default_float": 9.0}
            attrs = {**of_ints, **answers}
            cases.append(node("LabelEncoder", whole, out=out, opset=opset, **attrs))
        attrs = {**of_floats, "values_int64s": [1, 2, 3, 4, 5], "default_int64": -(1 << 40)}
        cases.append(node("LabelEncoder", real, out=np.int64, opset=opset, **attrs))
    attrs = {**with_nan, "values_int64s": [1, 2, 3]}
    cases.append(node("LabelEncoder", real, out=np.int64, opset=4, **attrs))
    compare(target, cases, rtol=0, atol=0)


@on_targets
def test_label_encoder_from_tensors_agrees(target):
    """The last of equal keys counts, and every dtype of ONNX's list works."""
    cases, expected = [], []
    for key, value in itertools.product(
        ["int64", "int32", "int16", "float32", "float64"], repeat=2
    ):
        if fits(target, np.zeros(0, key), np.zeros(0, value)):
            x = np.array([[1, 2], [3, 4]], key)
            keys, values = np.array([2, 1, 4, 2], key), np.array([10, 20, 30, 40], value)
            attrs = tensors(keys_tensor=keys, values_tensor=values)
            attrs |= tensors(default_tensor=np.array([99], value))
            cases.append(node("LabelEncoder", x, out=value, opset=4, **attrs))
            expected.append([np.array([[20, 40], [99, 30]], value)])
    compare(target, cases, expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("op", "attrs", "reason"),
    [
        ("OneHotEncoder", {"cats_int64s": [1, 1]}, "twice"),
        ("Scaler", {"scale": [1.0, 2.0], "offset": [1.0, 2.0]}, "scale"),
        ("Normalizer", {"norm": "L7"}, "norm L7"),
        ("Imputer", {"replaced_value_float": 1.0}, "imputed_value_floats"),
    ],
)
def test_nonsensical_nodes_are_refused(op, attrs, reason):
    model = node(op, X, **attrs).model([(1, 1, 1) if op == "OneHotEncoder" else (1, 1)])
    with pytest.raises(UnsupportedModel, match=reason):
        convert(model, Options(strip=True))


@on_targets
def test_a_damaged_file_does_no_harm(target):
    of_ints = {"keys_int64s": [3, 9, -1], "values_floats": [1.0, 2.0, 3.0]}
    cases = [node("LabelEncoder", WHOLE, opset=4, **of_ints), node("Normalizer", X, norm="L2")]
    for case in cases:
        data = convert(case.model(), Options(strip=True)).data
        for mode, amount in (("words", "2"), ("contents", "1"), ("several", "200")):
            report = small.damage(target, data, mode, amount)
            assert report.ok, report
