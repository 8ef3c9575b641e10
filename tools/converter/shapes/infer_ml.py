"""Infer the outputs of operators of ai.onnx.ml, for which onnx's inference is incomplete."""

from __future__ import annotations

import onnx

from ..protos import attributes_of
from .types import declare_new, known_values

ML = "ai.onnx.ml"
FLOAT, INT64, STRING = 1, 7, 8


def annotate(model: onnx.ModelProto) -> bool:
    """Declare those operators' outputs that can be inferred now; return True if any was added."""
    graph = model.graph
    if not any(node.domain == ML for node in graph.node):
        return False
    known = known_values(graph)
    changed = False
    for node in graph.node:
        rule = _RULES.get(node.op_type) if node.domain == ML else None
        inputs = [known.get(name) for name in node.input]
        if rule is None or None in inputs or all(name in known for name in node.output if name):
            continue
        changed |= declare_new(graph, node, rule(attributes_of(node), *inputs), known)
    return changed


def _rows(x):
    """Return the number of samples; a vector is one sample."""
    return 1 if len(x[1]) < 2 else x[1][0]


def _same(attributes, x):
    return [x]


def _same_float(attributes, x):
    return [(FLOAT, x[1])]


def _regressor(name):
    def rule(attributes, x):
        return [(FLOAT, [_rows(x), attributes.get(name, 1)])]

    return rule


def _tree_ensemble(attributes, x):
    return [(x[0], [_rows(x), attributes.get("n_targets", 1)])]


def _classifier(ints):
    def rule(attributes, x):
        strings = attributes.get("classlabels_strings")
        n = len(strings or attributes.get(ints, []))
        return [(STRING if strings else INT64, [_rows(x)]), (FLOAT, [_rows(x), n])]

    return rule


def _svm_classifier(attributes, x):
    label, (_, (rows, n)) = _classifier("classlabels_ints")(attributes, x)
    if n > 2 and attributes.get("vectors_per_class") and not attributes.get("prob_a"):
        n = n * (n - 1) // 2  # one score per pair of classes
    return [label, (FLOAT, [rows, n])]


def _one_hot(attributes, x):
    n = len(attributes.get("cats_int64s") or attributes.get("cats_strings", []))
    return [(FLOAT, [*x[1], n])]


def _feature_vectorizer(attributes, *inputs):
    sizes = attributes.get("inputdimensions") or [x[1][-1] for x in inputs]
    return [(FLOAT, [_rows(inputs[0]), sum(sizes)])]


def _extractor(attributes, x, index):
    n = 1
    for d in index[1]:
        n *= d
    return [(x[0], [*x[1][:-1], n] if len(x[1]) > 1 else [1, n])]


def _label_encoder(attributes, x):
    """Return the type of LabelEncoder's output, which has the dtype of the values."""
    if "classes_strings" in attributes:
        return [(INT64 if x[0] == STRING else STRING, x[1])]
    if "values_tensor" in attributes:
        return [(attributes["values_tensor"].data_type, x[1])]
    kinds = {"values_strings": STRING, "values_int64s": INT64, "values_floats": FLOAT}
    dtypes = [dtype for name, dtype in kinds.items() if name in attributes]
    return [(dtypes[0], x[1])] if dtypes else []


def _dict_vectorizer(attributes, x):
    vocabulary = attributes.get("string_vocabulary") or attributes.get("int64_vocabulary", [])
    return [(x[0] & 15, [1, len(vocabulary)])]  # the dtype of the map's values


def _category_mapper(attributes, x):
    return [(INT64 if x[0] == STRING else STRING, x[1])]


_RULES = {
    "ArrayFeatureExtractor": _extractor,
    "Binarizer": _same,
    "CategoryMapper": _category_mapper,
    "DictVectorizer": _dict_vectorizer,
    "FeatureVectorizer": _feature_vectorizer,
    "Imputer": _same,
    "LabelEncoder": _label_encoder,
    "LinearClassifier": _classifier("classlabels_ints"),
    "LinearRegressor": _regressor("targets"),
    "Normalizer": _same_float,
    "OneHotEncoder": _one_hot,
    "SVMClassifier": _svm_classifier,
    "SVMRegressor": _regressor(""),
    "Scaler": _same_float,
    "TreeEnsemble": _tree_ensemble,
    "TreeEnsembleClassifier": _classifier("classlabels_int64s"),
    "TreeEnsembleRegressor": _regressor("n_targets"),
}
