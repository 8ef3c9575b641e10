"""Operators on strings agree with onnxruntime, or with onnx's reference where that differs."""

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from tests.host.ops.against_ort import Node, compare
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


def texts(*values, shape=None):
    x = np.array(values, object)
    return x if shape is None else x.reshape(shape)


WORDS = texts("Monday", "tuesday", "WEDNESDAY", "", "Ärger", "ÉTÉ", "щука", "λόγος", "x y", "日本")
GRID = texts(*"abcdefghijklmnopqrstuvwx", shape=(2, 3, 4))


def strings(op, *inputs, outputs=1, **attrs):
    return Node(op, list(inputs), attrs, dtypes=(object,) * outputs)


def by_reference(nodes):
    """Return the outputs of onnx's reference evaluator, strings as objects."""
    results = []
    for node in nodes:
        feeds = dict(zip([i.name for i in node.model().graph.input], node.values(), strict=True))
        outputs = ReferenceEvaluator(node.model()).run(None, feeds)
        dtypes = [np.dtype(d) for d in node.dtypes]
        results.append([np.asarray(y).astype(d) for y, d in zip(outputs, dtypes, strict=True)])
    return results


@every_target
def test_strings_are_normalized(target):
    some = texts("monday", "ÄRGER", "x y")
    nodes = [
        strings(
            "StringNormalizer", WORDS, case_change_action=case, is_case_sensitive=heeds, **stops
        )
        for case in ("NONE", "LOWER", "UPPER")
        for heeds in (0, 1)
        for stops in ({}, {"stopwords": some.tolist()}, {"stopwords": WORDS.tolist()})
    ]
    row = WORDS.reshape(1, -1)
    nodes.append(strings("StringNormalizer", row, case_change_action="LOWER", stopwords=["x y"]))
    nodes.append(strings("StringNormalizer", row[:, :1], stopwords=["monday"]))
    compare(target, nodes, [[normalized(n)] for n in nodes])


def normalized(node):
    """Return strings as the specification says: onnx's reference also strips accents."""
    x, attrs = node.inputs[0], node.attrs
    fold = str if attrs.get("is_case_sensitive", 0) else str.lower
    change = {"LOWER": str.lower, "UPPER": str.upper}.get(attrs.get("case_change_action"), str)
    stops = {fold(s) for s in attrs.get("stopwords", [])}
    kept = [change(s) for s in x.ravel() if fold(s) not in stops] or [""]
    return texts(*kept) if x.ndim == 1 else texts(*kept, shape=(1, -1))


@every_target
def test_normalizer_agrees_with_onnxruntime_on_ascii(target):
    x = texts("Monday", "tuesday", "WEDNESDAY", "tuesday", "thursday")
    nodes = [
        strings(
            "StringNormalizer",
            v,
            case_change_action=case,
            is_case_sensitive=heeds,
            locale="C",
            **stops,
        )
        for v in (x, x.reshape(1, -1))
        for case in ("NONE", "LOWER", "UPPER")
        for heeds in (0, 1)
        for stops in ({"stopwords": ["TUESDAY", "Monday"]}, {"stopwords": ["tuesday"]})
    ]
    compare(target, nodes)


@every_target
def test_strings_are_split(target):
    x = texts("a,b,,c", "", ",", "no", "é,ü", " a  b ", shape=(2, 3))
    nodes = [
        Node("StringSplit", [v], attrs, dtypes=(object, np.int64))
        for v in (x, x[0], x.reshape(3, 1, 2), x[:0])
        for attrs in ({"delimiter": ","}, {"delimiter": ",", "maxsplit": 1}, {}, {"maxsplit": 1})
    ]
    nodes.append(Node("StringSplit", [x], {"delimiter": ",,"}, dtypes=(object, np.int64)))
    compare(target, nodes, by_reference(nodes))


@every_target
def test_concat_equal_and_where_accept_strings(target):
    a, b = texts("a", "é", "", shape=(3, 1)), texts("x", "é")
    condition = np.array([[True], [False], [True]])
    nodes = [
        strings("StringConcat", a, b),
        Node("Equal", [a, b], dtypes=(bool,)),
        Node("Equal", [WORDS, WORDS[::-1].copy()], dtypes=(bool,)),
        strings("Where", condition, a, b),
        Node("Where", [condition, a, b], fixed=(2,), dtypes=(object,)),
    ]
    compare(target, nodes, by_reference(nodes))


@every_target
def test_strings_are_moved(target):
    i = np.array
    nodes = [
        strings("Identity", GRID),
        Node("Reshape", [GRID, i([4, -1])], fixed=(1,), dtypes=(object,)),
        Node("Unsqueeze", [GRID, i([1])], fixed=(1,), dtypes=(object,)),
        Node("Squeeze", [GRID[:1], i([0])], fixed=(1,), dtypes=(object,)),
        strings("Flatten", GRID, axis=2),
        strings("Transpose", GRID, perm=[2, 0, 1]),
        strings("Concat", GRID, GRID, GRID[:, :1], axis=1),
        Node("Gather", [GRID, i([[2, 0], [-1, 1]])], {"axis": 1}, fixed=(1,), dtypes=(object,)),
        strings("Gather", GRID, i([3, -4, 0]), axis=2),
        Node("Slice", [GRID, i([2, -1]), i([-9, 0]), i([1, 2]), i([-1, -2])], fixed=(1, 2, 3, 4)),
        Node("Split", [GRID, i([1, 3])], {"axis": 2}, fixed=(1,), dtypes=(object, object)),
        Node("Expand", [GRID[:, :1], i([2, 3, 4])], fixed=(1,), dtypes=(object,)),
        Node("Tile", [GRID, i([1, 2, 1])], fixed=(1,), dtypes=(object,)),
    ]
    nodes[9].dtypes = (object,)
    compare(target, nodes, by_reference(nodes))


@every_target
def test_regular_expressions_match(target):
    emails = texts("a@b.org", "x.y@b.com", "@b.com", "é@b.org", "a@b.org\n", "")
    patterns = [
        r"[\w.]+@\w+\.(com|org)",
        r"[^@]*?@.*",
        r"(\W|^)[a-z@.]{2,8}(\W|$)",
        r"\w\b.{3,}",
        "",
        "(?:a|é)@b.org",
    ]
    nodes = [Node("RegexFullMatch", [emails], {"pattern": p}, dtypes=(bool,)) for p in patterns]
    compare(target, nodes)  # with RE2, which onnx means: its reference uses Python's `re`
