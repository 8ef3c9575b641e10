"""Tokenizer of com.microsoft on MicroPython, against onnxruntime."""

import numpy as np
import pytest
from onnx import helper

from tests.host.ops.against_ort import compare
from tests.host.ops.ms_node import MsNode
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
TEXTS = np.array(["aa b1,;c", "", "  ", "Zug, 日本 é", "a;b;;c12\n3", "ab"], object)
PLAIN = {"mark": 0, "mincharnum": 1, "pad_value": "#"}


class Opened(MsNode):
    """A run decides how many tokens there are."""

    def converted(self, outputs):
        return convert(self.model([y.shape for y in outputs]), Options(strip=True))


def tokenizer(x, **attributes):
    return Opened("Tokenizer", [x], PLAIN | attributes, dtypes=(object,))


@every_target
def test_tokenizer(target):
    ways = [
        {"tokenexp": "[a-z]+"},
        {"tokenexp": r"\w\w+"},
        {"tokenexp": r"\b\w+\b"},
        {"tokenexp": r"\b\w{2,}\b"},
        {"tokenexp": "a|ab|[0-9]"},
        {"tokenexp": "."},
        {"separators": [" "]},
        {"separators": [",;", ";", r"\s+"]},
        {"separators": [""]},
    ]
    nodes = [
        tokenizer(x, **way, mark=mark, mincharnum=least)
        for way in ways
        for x in (TEXTS, TEXTS.reshape(2, 3), TEXTS[1:3])
        for mark in (0, 1)
        for least in (1, 2)
        if least == 1 or way not in ({"tokenexp": "."}, {"separators": [""]})
    ]
    compare(target, nodes)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"tokenexp": r"\ba+"}, "boundary"),
        ({"tokenexp": r"\b\w\b"}, "boundary"),
        ({"separators": [r"\b\w+\b"]}, "boundary"),
        ({"tokenexp": "^a"}, "anchor"),
        ({"tokenexp": "(a"}, "pattern"),
        ({"separators": ["[0-9]*"]}, "empty"),
        ({"separators": [""], "mincharnum": 2}, "one character"),
        ({"tokenexp": "a", "separators": ["b"]}, "one of"),
        ({}, "one of"),
        ({"tokenexp": "a", "mincharnum": 0}, "mincharnum 0"),
    ],
)
def test_what_a_tokenizer_does_not_do(attributes, reason):
    given = PLAIN | attributes
    node = helper.make_node("Tokenizer", ["x"], ["y"], domain="com.microsoft", **given)
    string = helper.TensorProto.STRING
    infos = [helper.make_tensor_value_info("x", string, [2])]
    results = [helper.make_tensor_value_info("y", string, [2, None])]
    graph = helper.make_graph([node], "one", infos, results)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    with pytest.raises(UnsupportedModel, match=reason):
        convert(helper.make_model(graph, opset_imports=opsets, ir_version=8))
