"""Shapes and dtypes of operators of ai.onnx.ml, for which onnx has no inference or half of one."""

from __future__ import annotations

import onnx
from onnx import helper

from .. import extent, extent_forms

ML = "ai.onnx.ml"
FLOAT, INT64, STRING = 1, 7, 8
# (ONNX dtype, dims, Extents among them) or None where they are unknown
Value = tuple[int, list[int]]


def annotate(model: onnx.ModelProto) -> bool:
    """Adds what can be said now of these operators' outputs; True if there was anything to add."""
    graph = model.graph
    if not any(node.domain == ML for node in graph.node):
        return False
    known: dict[str, Value] = {t.name: (t.data_type, list(t.dims)) for t in graph.initializer}
    for info in [*graph.input, *graph.value_info, *graph.output]:
        value = value_of(info)
        if value is not None:
            known[info.name] = value
    changed = False
    for node in graph.node:
        rule = _RULES.get(node.op_type) if node.domain == ML else None
        inputs = [known.get(name) for name in node.input]
        if rule is None or None in inputs or all(name in known for name in node.output if name):
            continue
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        for name, value in zip(node.output, rule(attributes, *inputs), strict=False):
            if name and value is not None and name not in known:
                declare(graph, name, value)
                known[name] = value
                changed = True
    return changed


def value_of(info) -> Value | None:
    """A value's type, if it is a tensor of known shape."""
    t = info.type.tensor_type
    if not t.elem_type or not t.HasField("shape"):
        return None
    dims = [
        d.dim_value if d.HasField("dim_value") else extent_forms.parsed(d.dim_param)
        for d in t.shape.dim
    ]
    if any(d is None or not isinstance(d, extent.Extent) and d < 0 for d in dims):
        return None
    return t.elem_type, dims


def declare(graph, name, value):
    """Writes down the type of a value of the graph."""
    dtype, dims = value
    value = dtype, extent_forms.symbols(dims)
    for values in (graph.output, graph.value_info):
        for info in values:
            if info.name == name:
                info.CopyFrom(helper.make_tensor_value_info(name, *value))
                return
    graph.value_info.append(helper.make_tensor_value_info(name, *value))


def _rows(x):
    """Samples: a vector is one of them."""
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
        n = n * (n - 1) // 2  # one score a pair of classes
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


_RULES = {
    "ArrayFeatureExtractor": _extractor,
    "Binarizer": _same,
    "FeatureVectorizer": _feature_vectorizer,
    "Imputer": _same,
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
