"""Models of If, Loop and Scan, and of the trees and encoders of ai.onnx.ml."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from .making import ML, Spec, makes

F = TensorProto.FLOAT


def _info(name, dims, kind=F):
    return helper.make_tensor_value_info(name, kind, dims)


@makes("If")
def if_(draw, v):
    """Make each branch of a constant and an operator."""
    shape = draw.shape(1, 3, 3)
    branches = []
    for i, op in enumerate(("Exp", "Neg")):
        value = numpy_helper.from_array(draw.floats(shape), f"c{i}")
        node = helper.make_node(op, [f"c{i}"], [f"b{i}"])
        branches.append(helper.make_graph([node], f"g{i}", [], [_info(f"b{i}", shape)], [value]))
    names = ("then_branch", "else_branch")
    return Spec([np.array(draw.chance())], dict(zip(names, branches, strict=True)))


@makes("Loop")
def loop(draw, v):
    """Sum over iterations, with a scan output."""
    shape, n = draw.shape(1, 2, 3), draw.size(1, 4)
    step = numpy_helper.from_array(draw.floats(shape), "step")
    nodes = [
        helper.make_node("Add", ["state", "step"], ["next"]),
        helper.make_node("Mul", ["next", "next"], ["each"]),
        helper.make_node("Identity", ["go"], ["more"]),
    ]
    inputs = [_info("i", [], TensorProto.INT64), _info("go", [], TensorProto.BOOL)]
    outputs = [_info("more", [], TensorProto.BOOL), _info("next", shape), _info("each", shape)]
    body = helper.make_graph(nodes, "b", [*inputs, _info("state", shape)], outputs, [step])
    known = [np.array(n), np.array(True), draw.floats(shape)]
    return Spec(known, {"body": body}, [0, 1], [True, True])


@makes("Scan")
def scan(draw, v):
    """Sum along the first dim, also backwards; version 8 has a batch dim before it."""
    n, width = draw.size(1, 4), draw.size(1, 3)
    nodes = [
        helper.make_node("Add", ["state", "x"], ["next"]),
        helper.make_node("Identity", ["next"], ["y"]),
    ]
    sides = [[_info(name, [width]) for name in names] for names in (("state", "x"), ("next", "y"))]
    attributes = {"body": helper.make_graph(nodes, "b", *sides), "num_scan_inputs": 1}
    backwards = [1] if draw.chance(0.4) else None
    if v.since < 9:
        attributes |= {"directions": backwards} if backwards else {}
        known = [None, draw.floats((1, width)), draw.floats((1, n, width))]
        return Spec(known, attributes, outputs=[True, True])
    if backwards:
        attributes["scan_input_directions"] = [1]
    if draw.chance(0.3):
        attributes["scan_output_directions"] = [1]
    x = draw.floats((n, width))
    if draw.chance(0.3):
        attributes["scan_input_axes"], x = [1 if v.since < 11 else -1], x.T.copy()
    return Spec([draw.floats((width,)), x], attributes, outputs=[True, True])


@makes("LabelEncoder", domain=ML)
def label_encoder(draw, v):
    """Use classes in version 1, keys and values of several dtypes since 2, tensors since 4."""
    words = ["red", "green", "blue", "white"]
    shape = draw.shape(1, 2, 4)
    index = draw.ints(shape, np.int64, 0, 4)
    texts = np.array([*words, "other"], object)[index]
    if v.since < 2:
        attributes = {"classes_strings": words, "default_int64": -7, "default_string": "none"}
        return Spec([texts if draw.chance() else index], attributes)
    kinds = {
        "strings": (texts, words, "none"),
        "int64s": (index * 3, [0, 3, 6, 9], -5),
        "floats": (index.astype(np.float32) / 2, [0.0, 0.5, 1.0, 1.5], -2.5),
    }
    source, to = (list(kinds)[draw.size(0, 2)] for _ in range(2))
    attributes = {f"keys_{source}": kinds[source][1], f"values_{to}": kinds[to][1]}
    default = {"strings": "default_string", "int64s": "default_int64", "floats": "default_float"}
    attributes[default[to]] = kinds[to][2]
    return Spec([kinds[source][0]], attributes)


@makes("TreeEnsembleClassifier", "TreeEnsembleRegressor", domain=ML)
def trees(draw, v):
    """Draw stumps and leaves; attributes of doubles are tensors since version 3."""
    n, features = draw.size(1, 3), 3
    is_classifier = v.operator == "TreeEnsembleClassifier"
    columns = {
        name: []
        for name in ["treeids", "nodeids", "featureids", "values", "modes", "true", "false"]
    }
    for tree in range(n):
        modes = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT")
        rows = [
            (0, draw.size(0, features - 1), float(draw.floats(())), modes[draw.size(0, 3)], 1, 2),
            (1, 0, 0.0, "LEAF", 0, 0),
            (2, 0, 0.0, "LEAF", 0, 0),
        ]
        for row in rows:
            for name, value in zip(columns, (tree, *row), strict=True):
                columns[name].append(value)
    attributes = {f"nodes_{k}": x for k, x in columns.items() if k not in ("true", "false")}
    attributes |= {f"nodes_{k}nodeids": columns[k] for k in ("true", "false")}
    leaves = [(tree, leaf) for tree in range(n) for leaf in (1, 2)]
    kind, which = ("class", "ids") if is_classifier else ("target", "ids")
    attributes[f"{kind}_treeids"] = [t for t, _ in leaves]
    attributes[f"{kind}_nodeids"] = [leaf for _, leaf in leaves]
    attributes[f"{kind}_{which}"] = [draw.size(0, 1) for _ in leaves]
    attributes[f"{kind}_weights"] = [float(draw.rng.uniform(0, 1)) for _ in leaves]
    x = draw.floats((draw.size(1, 4), features))
    if is_classifier:
        post = ("NONE", "SOFTMAX", "LOGISTIC")[draw.size(0, 2)]
        attributes |= {"classlabels_int64s": [3, 5, 8], "post_transform": post}
        attributes["class_ids"] = [draw.size(0, 2) for _ in leaves]
        return Spec([x], attributes, outputs=[True, True])
    attributes |= {"n_targets": 2}
    if draw.chance():
        attributes["aggregate_function"] = ("SUM", "AVERAGE", "MIN", "MAX")[draw.size(0, 3)]
    return Spec([x], attributes)
