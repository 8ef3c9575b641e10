"""Operators of ai.onnx.ml on strings and maps, and TfIdfVectorizer, agree with onnxruntime."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.host import zoo
from tests.host.device import small
from tests.host.ops.against_ort import Node, compare
from tests.host.ops.ml_node import MlNode
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.converter.reference import golden
from tools.harness import Job, input_bytes, output_value, run_jobs
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
FRUIT = np.array(["pear", "apple", "fig", "", "Apfel"], object)
KEYS, NUMBERS = ["fig", "apple", "", "fig"], [3, 1, 7, 4]


def ml(op, *inputs, out, opset=3, **attrs):
    return MlNode(op, list(inputs), attrs, opset=opset, dtypes=out)


@every_target
def test_label_encoder_agrees(target):
    keys, floats = ["pear", "apple", ""], [1.5, -2.0, 0.25]
    numbers = np.array([3, 1, 8])
    nodes = [
        ml("LabelEncoder", FRUIT, out=(np.int64,), keys_strings=keys, values_int64s=[3, 1, 7]),
        ml("LabelEncoder", FRUIT, out=(np.float32,), keys_strings=keys, values_floats=floats),
        ml(
            "LabelEncoder", FRUIT, out=(object,), keys_strings=keys, values_strings=["a", "é", "c"]
        ),
        ml("LabelEncoder", numbers, out=(object,), keys_int64s=[1, 3], values_strings=["a", "b"]),
        ml(
            "LabelEncoder",
            np.array([0.5, 2, np.nan], np.float32),
            out=(object,),
            opset=4,
            keys_floats=[0.5, float("nan")],
            values_strings=["half", "none"],
            default_string="?",
        ),
        ml("LabelEncoder", FRUIT, out=(np.int64,), opset=1, classes_strings=keys),
        ml("LabelEncoder", numbers, out=(object,), opset=1, classes_strings=[*keys, "x"]),
    ]
    compare(target, nodes)


@every_target
def test_categories_are_mapped_and_encoded(target):
    both = {"cats_strings": ["fig", "apple", ""], "cats_int64s": [3, 1, 7]}
    grid = FRUIT[:4].reshape(2, 2)
    nodes = [
        ml("CategoryMapper", FRUIT, out=(np.int64,), opset=1, **both),
        ml("CategoryMapper", np.array([7, 2, 1]), out=(object,), opset=1, **both),
    ]
    compare(target, nodes)
    one_hot = ml("OneHotEncoder", grid, out=(np.float32,), opset=1, cats_strings=["fig", "pear"])
    compare(target, [one_hot], [one_hot.expected()])


@every_target
def test_strings_are_extracted(target):
    x, index = FRUIT[:4].reshape(2, 2), np.array([1, 0, 1])
    node = ml("ArrayFeatureExtractor", x, index, out=(object,), opset=1)
    expected = [x[:, index]]
    model = node.model([w.shape for w in expected])
    [(got,)] = outputs_on(target, model, [[x, index]])
    np.testing.assert_array_equal(got, expected[0])


@every_target
def test_classifiers_return_string_labels(target):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((6, 2)).astype(np.float32)
    out = (object, np.float32)
    three = {"coefficients": [1.0, 0, 0, 1, -1, -1], "intercepts": [0.1, 0.2, 0.3]}
    nodes = [
        ml("LinearClassifier", x, out=out, opset=1, classlabels_strings=["a", "é", ""], **three),
        ml(
            "LinearClassifier",
            x,
            out=out,
            opset=1,
            classlabels_strings=["no", "yes"],
            coefficients=[1.0, -0.5],
            intercepts=[0.25],
        ),
    ]
    compare(target, nodes)


def tfidf(x, mode, **attrs):
    return Node("TfIdfVectorizer", [x], {"mode": mode, **attrs}, opset=9)


@every_target
def test_tfidf_agrees(target):
    ints = np.array([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]])
    pool = {"ngram_counts": [0, 4], "ngram_indexes": [0, 5, 2, 3, 4, 1, 6]}
    grams = {"pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], **pool}
    words = np.array(["the", "cat", "and", "the", "dog", "and", "the", "cat"], object)
    texts = {
        "pool_strings": ["cat", "the", "dog", "é", "the", "cat", "and", "dog", "the", "and"],
        "ngram_counts": [0, 4],
        "ngram_indexes": [3, 0, 6, 1, 2, 4, 5],
    }
    weights = {"weights": [0.5, 2, 1, 3, 0.25, 8, 1.5]}
    nodes = [
        tfidf(x, mode, min_gram_length=least, max_gram_length=most, max_skip_count=skips, **a, **w)
        for mode, w in (("TF", {}), ("IDF", weights), ("TFIDF", weights), ("IDF", {}))
        for least, most, skips in ((1, 1, 0), (2, 2, 5), (1, 2, 1))
        for x, a in ((ints, grams), (ints[0].astype(np.int32), grams), (words, texts))
    ]
    compare(target, nodes)


def text_model(nodes, outputs, inputs=None):
    return small.model(nodes, inputs or [small.value("x", [4], TensorProto.STRING)], outputs)


def outputs_on(target, model, samples):
    converted = convert(model, Options(strip=True))
    [outcome] = run_jobs(
        target, [Job(converted.data, [list(map(input_bytes, s)) for s in samples])]
    )
    assert not outcome.error, outcome.message
    return [
        [
            output_value(raw, t.dtype, t.np_dtype, t.shape)
            for raw, t in zip(run.outputs, converted.graph.outputs, strict=True)
        ]
        for run in outcome.runs
    ]


@every_target
def test_an_open_number_of_strings_is_passed_on(target):
    """Each run has another number of remaining words."""
    counts = {"ngram_counts": [0, 2], "ngram_indexes": [0, 1, 2], "mode": "TF"}
    grams = {"min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0}
    pool = {"pool_strings": ["a", "b", "a", "b"]}
    shape = helper.make_node("Constant", [], ["shape"], value_ints=[1, -1])
    model = text_model(
        [
            shape,
            helper.make_node("StringNormalizer", ["x"], ["n"], stopwords=["the"], locale="C"),
            helper.make_node("Identity", ["n"], ["i"]),
            helper.make_node("Reshape", ["i", "shape"], ["r"]),
            helper.make_node("TfIdfVectorizer", ["r"], ["y"], **counts, **grams, **pool),
        ],
        [
            helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 3]),
            helper.make_tensor_value_info("r", TensorProto.STRING, [1, None]),
        ],
    )
    # case does not count in the comparison with a stop word, but in that with an n-gram
    samples = [np.array(s.split(), object) for s in ("a the b A", "The the the the", "b a b a")]
    model.graph.node[1].attribute.append(helper.make_attribute("is_case_sensitive", 1))
    got = outputs_on(target, model, [[s] for s in samples])
    for sample, outputs in zip(samples, got, strict=True):
        for value, expected in zip(outputs, golden.reference(model, [sample]), strict=True):
            np.testing.assert_array_equal(value, expected)


@every_target
def test_without_stopwords_a_length_is_fixed(target):
    nodes = [
        helper.make_node("StringNormalizer", ["x"], ["n"], case_change_action="LOWER"),
        helper.make_node("LabelEncoder", ["n"], ["y"], domain="ai.onnx.ml", **LABELS),
    ]
    model = text_model(nodes, [helper.make_tensor_value_info("y", TensorProto.INT64, [4])])
    [[got]] = outputs_on(target, model, [[np.array(["A", "b", "", "a"], object)]])
    assert got.tolist() == [1, -1, -1, 1]


@every_target
def test_one_string_stays_one_string(target):
    nodes = [helper.make_node("StringNormalizer", ["x"], ["y"], stopwords=["the"])]
    x, y = (helper.make_tensor_value_info(name, TensorProto.STRING, [1]) for name in "xy")
    model = text_model(nodes, [y], [x])
    samples = [[np.array([s], object)] for s in ("the", "The", "cat", "")]
    got = [y.tolist() for [y] in outputs_on(target, model, samples)]
    assert got == [[""], [""], ["cat"], [""]]


def test_an_open_number_of_numbers_is_refused():
    nodes = [
        helper.make_node("StringNormalizer", ["x"], ["n"], stopwords=["the"]),
        helper.make_node("LabelEncoder", ["n"], ["y"], domain="ai.onnx.ml", **LABELS),
    ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.INT64, [None])]
    with pytest.raises(UnsupportedModel, match="not fixed"):
        convert(text_model(nodes, outputs))


LABELS = {"keys_strings": ["a"], "values_int64s": [1]}


def map_info(name, keys, values):
    inner = helper.make_tensor_type_proto(values, [])
    return helper.make_value_info(name, helper.make_map_type_proto(keys, inner))


@every_target
@pytest.mark.parametrize(
    ("keys", "values", "vocabulary", "samples"),
    [
        ("STRING", "FLOAT", {"string_vocabulary": ["b", "é", "a"]}, [{"a": 0.1, "é": -2.5}, {}]),
        ("INT64", "FLOAT", {"int64_vocabulary": [7, -1]}, [{-1: 1e30, 5: 2.0}]),
        ("STRING", "INT64", {"string_vocabulary": ["b", "a"]}, [{"a": -(1 << 62), "b": 3}]),
        ("INT64", "STRING", {"int64_vocabulary": [7, -1]}, [{-1: "é", 5: "x"}]),
    ],
)
def test_dict_vectorizer_agrees(target, keys, values, vocabulary, samples):
    number = TensorProto.DataType.Value(values)
    info = map_info("x", TensorProto.DataType.Value(keys), number)
    node = helper.make_node("DictVectorizer", ["x"], ["v"], domain="ai.onnx.ml", **vocabulary)
    nodes = [node, helper.make_node("Identity", ["v"], ["y"])]
    model = text_model(nodes, [helper.make_tensor_value_info("y", number, [1, None])], [info])
    words = next(iter(vocabulary.values()))
    dtype = {"FLOAT": np.float32, "INT64": np.int64, "STRING": object}[values]
    for [got], sample in zip(
        outputs_on(target, model, [[s] for s in samples]), samples, strict=True
    ):
        default = "" if values == "STRING" else 0
        expected = np.array([[sample.get(w, default) for w in words]], dtype)
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


@every_target
@pytest.mark.parametrize(
    ("keys", "labels"),
    [
        ("STRING", {"classlabels_strings": ["no", "é"]}),
        ("INT64", {"classlabels_int64s": [5, -3]}),
    ],
)
def test_zip_map_agrees(target, keys, labels):
    node = helper.make_node("ZipMap", ["s"], ["m"], domain="ai.onnx.ml", **labels)
    maps = map_info("m", TensorProto.DataType.Value(keys), TensorProto.FLOAT)
    out = helper.make_value_info("m", helper.make_sequence_type_proto(maps.type))
    nodes = [helper.make_node("Neg", ["x"], ["s"]), node]
    infos = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, 2])]
    model = text_model(nodes, [out], infos)
    x = np.array([[0.1, 2], [np.inf, -1e-30], [3, 4]], np.float32)
    [[got]] = outputs_on(target, model, [[x]])
    assert [got] == golden.reference(model, [x])


@zoo.needs_zoo
@every_target
def test_zip_map_of_the_zoo_agrees(target):
    import json

    name = "skl_rf_wine_zipmap"
    if not zoo.model_path(name).exists():
        pytest.skip("not in this collection")
    samples = [zoo.sample(name, k, "input") for k in range(10)]
    for k, (label, maps) in enumerate(
        outputs_on(target, onnx.load(zoo.model_path(name)), samples)
    ):
        path = zoo.model_path(name).parent
        np.testing.assert_array_equal(label, np.load(path / f"output_{k}.npy"))
        expected = json.loads((path / f"output_{k}_1.json").read_text())
        for results, there in zip(maps, expected, strict=True):
            assert list(results) == [int(key) for key in there]
            # exact sums of leaves here, sums that are rounded after each tree there
            values = list(there.values())
            np.testing.assert_allclose(list(results.values()), values, rtol=0, atol=1e-6)
