"""Nonsensical quantized nodes, trees, strings, sequences and optionals."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from .case import FLOAT, UINT8, Case, Cases, model, node, value

_ML = "ai.onnx.ml"
_SCALE, _ZERO = np.float32(0.1), np.uint8(3)


def cases() -> Cases:
    yield from _quantized()
    yield from _trees()
    yield from _ml()
    yield from _objects()


def _quantize(scale, zero, **attributes):
    constants = {"s": scale, "z": zero}
    nodes = [node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", **attributes)]
    return model(nodes, [value("x", [2, 4])], [value("y", [2, 4])], constants, 21)


def _quantized():
    for name, scale in {"minus": -0.1, "nan": np.nan, "infinite": np.inf}.items():
        yield Case(f"scale_{name}", _quantize(np.float32(scale), _ZERO))
    yield Case("scale_int", _quantize(np.int32(1), _ZERO))
    yield Case("scale_empty", _quantize(np.zeros(0, "f"), _ZERO))
    yield Case("scale_of_3", _quantize(np.full(3, 0.1, "f"), np.zeros(3, "u1")))
    yield Case("zero_point_float", _quantize(_SCALE, np.float32(3)))
    yield Case("zero_point_int64", _quantize(_SCALE, np.int64(3)))
    yield Case("zero_point_of_2", _quantize(_SCALE, np.zeros(2, "u1")))
    yield Case("quantize_axis_9", _quantize(np.full(4, 0.1, "f"), np.zeros(4, "u1"), axis=9))
    yield Case(
        "quantize_block_0",
        _quantize(np.full((2, 4), 0.1, "f"), np.zeros((2, 4), "u1"), block_size=-3),
    )
    w = np.ones((1, 1, 1, 1), np.uint8)
    conv = dict.fromkeys(("xs", "ws", "ys"), _SCALE) | dict.fromkeys(("xz", "wz", "yz"), _ZERO)
    for name, more in {
        "nan": {"ys": np.float32(np.nan)},
        "of_5": {"ws": np.full(5, 0.1, "f")},
        "int8": {"yz": np.int16(1)},
        "bias": {"b": np.zeros(7, "i4")},
        "weights": {"w": np.ones((1, 3, 1, 1), "u1")},
    }.items():
        constants = {"w": w, **conv, **more}
        names = "x xs xz w ws wz ys yz" + (" b" if "b" in more else "")
        x = [value("x", [1, 1, 4, 4], UINT8)]
        yield Case(
            f"QLinearConv_{name}",
            model(node("QLinearConv", names), x, [value("y", [1, 1, 4, 4], UINT8)], constants),
        )
    yield Case(
        "DequantizeLinear_of_floats",
        model(node("DequantizeLinear", "x s"), constants={"s": _SCALE}),
    )


_TREE = {
    "nodes_nodeids": [0, 1, 2],
    "nodes_treeids": [0, 0, 0],
    "nodes_featureids": [0, 0, 0],
    "nodes_values": [0.5, 0.0, 0.0],
    "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "target_ids": [0, 0],
    "target_nodeids": [1, 2],
    "target_treeids": [0, 0],
    "target_weights": [1.0, 2.0],
    "n_targets": 1,
}


def _forest(**changes):
    attributes = {k: v for k, v in {**_TREE, **changes}.items() if v is not None}
    n = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain=_ML, **attributes)
    return model(n, [value("x", [1, 4])], [value("y", [1, 1])], ai_onnx_ml=3)


def _trees():
    for name, values in _TREE.items():
        if isinstance(values, list):
            yield Case(f"trees_{name}_short", _forest(**{name: values[:-1]}))
            yield Case(f"trees_{name}_none", _forest(**{name: None}))
    for name, change in {
        "circle": {"nodes_truenodeids": [0, 0, 0]},
        "child_beyond": {"nodes_truenodeids": [9, 0, 0]},
        "child_minus": {"nodes_falsenodeids": [-1, 0, 0]},
        "ids_alike": {"nodes_nodeids": [0, 1, 1]},
        "feature_minus": {"nodes_featureids": [-1, 0, 0]},
        "feature_beyond": {"nodes_featureids": [4, 0, 0]},
        "feature_huge": {"nodes_featureids": [1 << 40, 0, 0]},
        "mode_unknown": {"nodes_modes": ["BRANCH_ODD", "LEAF", "LEAF"]},
        "target_minus": {"target_ids": [-1, 0]},
        "target_beyond": {"target_ids": [1 << 40, 0]},
        "n_targets_0": {"n_targets": 0},
        "n_targets_minus": {"n_targets": -1},
        "n_targets_huge": {"n_targets": 1 << 40},
        "sum_unknown": {"aggregate_function": "MEDIAN"},
        "transform_unknown": {"post_transform": "SOMEHOW"},
        "leaf_is_elsewhere": {"target_treeids": [5, 0]},
    }.items():
        yield Case(f"trees_{name}", _forest(**change))


def _ml():
    def one(op, **attributes):
        n = helper.make_node(op, ["x"], ["y"], domain=_ML, **attributes)
        return model(n, [value("x", [1, 4])], [value("y", ["a", "b"])], ai_onnx_ml=3)

    yield Case("Scaler_short", one("Scaler", offset=[1.0], scale=[1.0] * 3))
    yield Case(
        "LinearRegressor_short",
        one("LinearRegressor", coefficients=[1.0], intercepts=[0.0] * 3, targets=9),
    )
    yield Case(
        "SVMRegressor_short",
        one("SVMRegressor", n_supports=9, support_vectors=[1.0], coefficients=[1.0]),
    )
    yield Case("SVMRegressor_minus", one("SVMRegressor", n_supports=-1))
    yield Case(
        "LabelEncoder_short", one("LabelEncoder", keys_floats=[1.0], values_floats=[1.0, 2.0])
    )
    yield Case("OneHotEncoder_none", one("OneHotEncoder"))
    yield Case("ArrayFeatureExtractor_1", one("ArrayFeatureExtractor"))
    yield Case("ZipMap_none", one("ZipMap"))
    yield Case("Imputer_none", one("Imputer"))
    yield Case("Normalizer_odd", one("Normalizer", norm="ODD"))
    yield Case("Binarizer_odd", one("Binarizer", threshold="high"))


def _objects():
    text = [value("x", [4], TensorProto.STRING)]
    yield Case("Relu_of_strings", model(node("Relu", "x"), text))
    yield Case("StringNormalizer_of_floats", model(node("StringNormalizer", "x")))
    yield Case("StringConcat_of_one", model(node("StringConcat", "x"), text, opset=20))
    yield Case(
        "RegexFullMatch_bad",
        model(node("RegexFullMatch", "x", pattern="(((("), text, [value("y", [4], 9)], opset=20),
    )
    yield Case("SequenceAt_of_a_tensor", model(node("SequenceAt", "x x")))
    beyond = [node("SequenceConstruct", "x x", "s"), node("SequenceAt", "s i")]
    yield Case("SequenceAt_beyond", model(beyond, constants={"i": np.int64(7)}))
    yield Case("SequenceConstruct_of_nothing", model(node("SequenceConstruct", "")))
    mixed = [node("SequenceConstruct", "x w", "s"), node("ConcatFromSequence", "s", axis=0)]
    yield Case("SequenceConstruct_of_two_kinds", model(mixed, constants={"w": np.ones(4, "i8")}))
    yield Case(
        "Optional_of_nothing", model([node("Optional", "", "o"), node("OptionalGetElement", "o")])
    )
    sequence = helper.make_tensor_sequence_value_info("x", FLOAT, [4])
    yield Case("Relu_of_a_sequence", model(node("Relu", "x"), [sequence]))
    typeless = helper.make_value_info(
        "x", helper.make_sequence_type_proto(helper.make_tensor_type_proto(0, None))
    )
    yield Case(
        "sequence_of_no_dtype",
        model(node("SequenceAt", "x i"), [typeless], constants={"i": np.int64(0)}),
    )
    tfidf = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 9, "max_skip_count": 0}
    tfidf |= {"ngram_counts": [5], "ngram_indexes": [0], "pool_int64s": [1]}
    yield Case(
        "TfIdfVectorizer_pool", model(node("TfIdfVectorizer", "x", **tfidf), [value("x", [4], 7)])
    )
