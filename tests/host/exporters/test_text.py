"""scikit-learn's pipelines on texts, exported by skl2onnx, agree with onnxruntime."""

import warnings

import numpy as np
import pytest
from onnx import helper

from tests.host.exporters.against import check

pytest.importorskip("skl2onnx", reason="exporting needs scikit-learn and skl2onnx")

from skl2onnx import to_onnx  # noqa: E402
from skl2onnx.common.data_types import StringTensorType  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer  # noqa: E402
from sklearn.linear_model import LogisticRegression, Ridge  # noqa: E402
from sklearn.naive_bayes import MultinomialNB  # noqa: E402
from sklearn.pipeline import make_pipeline, make_union  # noqa: E402

TEXTS = [
    "The cat sat on the mat",
    "dogs and cats are pets, and a cat purrs",
    "Buy cheap pills now!",
    "cheap cheap offer: buy 2, get 3",
]
MORE = ["", "a", "the the THE cat; buy", "purrs\tand offers 3 pills_now", "Käse for cats"]
LABELS = ["ham", "ham", "spam", "spam"]
WORD = "[a-zA-Z0-9_]+"
STOPS = ["the", "a", "on"]
SEPARATORS = [" ", "[.]", "\\?", ",", ";", ":", "\\!"]  # what skl2onnx's documentation proposes
PIPELINES = {
    "default": make_pipeline(CountVectorizer(), LogisticRegression()),
    "words": make_pipeline(TfidfVectorizer(token_pattern=r"\b\w+\b"), MultinomialNB()),
    "stop_words": make_pipeline(TfidfVectorizer(stop_words=STOPS), LogisticRegression()),
    "separators": make_pipeline(TfidfVectorizer(), LogisticRegression()),
    "count": make_pipeline(CountVectorizer(token_pattern=WORD), LogisticRegression()),
    "binary": make_pipeline(CountVectorizer(token_pattern=WORD, binary=True), MultinomialNB()),
    "tfidf": make_pipeline(TfidfVectorizer(token_pattern="[a-z]{2,}"), LogisticRegression()),
    "pairs": make_pipeline(
        TfidfVectorizer(token_pattern=WORD, ngram_range=(1, 2)), LogisticRegression()
    ),
    "sublinear": make_pipeline(
        TfidfVectorizer(token_pattern=WORD, norm="l1", sublinear_tf=True), LogisticRegression()
    ),
    "case": make_pipeline(CountVectorizer(token_pattern=WORD, lowercase=False), MultinomialNB()),
    "characters": make_pipeline(
        CountVectorizer(analyzer="char", ngram_range=(2, 3)), LogisticRegression()
    ),
    "both": make_pipeline(
        make_union(TfidfVectorizer(), CountVectorizer(analyzer="char", max_features=9)),
        LogisticRegression(),
    ),
    "columns": make_pipeline(
        ColumnTransformer([("first", TfidfVectorizer(), 0), ("second", CountVectorizer(), 1)]),
        LogisticRegression(),
    ),
    "number": make_pipeline(TfidfVectorizer(token_pattern=WORD), Ridge()),
}


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
@pytest.mark.parametrize("name", [name for name in PIPELINES if name != "columns"])
def test_a_pipeline_agrees_with_onnxruntime(name, target):
    check(target, exported(name), [[np.array([[s]], object)] for s in TEXTS + MORE])


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_two_columns_of_text_agree(target):
    pairs = zip(TEXTS + MORE, MORE + TEXTS, strict=True)
    check(target, exported("columns"), [[np.array([pair], object)] for pair in pairs])


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_several_texts_at_once_agree(target):
    x = np.array(TEXTS + MORE, object).reshape(-1, 1)
    check(target, exported("pairs", len(x)), [[x], [x[::-1]]])


def exported(name, n=1):
    """Export a pipeline for n texts a run, without ZipMap.

    Many computers lack onnxruntime's default locale: StringNormalizer gets another one.
    """
    pipeline, is_number = PIPELINES[name], name == "number"
    x = np.array([TEXTS, TEXTS[::-1]], object).T if name == "columns" else TEXTS
    types = [("x", StringTensorType([n, 2 if name == "columns" else 1]))]
    options = {} if is_number else {id(pipeline): {"zipmap": False}}
    if name == "separators":
        options[TfidfVectorizer] = {"separators": SEPARATORS}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline.fit(x, [1.5, 2, -3, 0] if is_number else LABELS)
        model = to_onnx(pipeline, initial_types=types, options=options, target_opset=17)
    for node in model.graph.node:
        if node.op_type == "StringNormalizer":
            node.attribute.append(helper.make_attribute("locale", "C"))
    return model
