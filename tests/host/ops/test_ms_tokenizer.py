"""Tokenizer of com.microsoft on MicroPython, against onnxruntime."""

import numpy as np
import pytest
from onnx import helper

from tests.host.device import small
from tests.host.ops.against_ort import compare
from tests.host.ops.ms_node import MsNode
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
TEXTS = np.array(["aa b1,;c", "", "  ", "Zug, 日本 é", "a;b;;c12\n3", "ab"], object)
PLAIN = {"mark": 0, "mincharnum": 1, "pad_value": "#"}


class Opened(MsNode):
    """A Tokenizer whose number of tokens each run decides."""

    def converted(self, outputs):
        return convert(self.model([y.shape for y in outputs]), Options(strip=True))


def tokenizer(x, **attributes):
    return Opened("Tokenizer", [x], PLAIN | attributes, dtypes=(object,))


@every_target
def test_tokenizer_agrees(target):
    modes = [
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
        tokenizer(x, **method, mark=mark, mincharnum=least)
        for method in modes
        for x in (TEXTS, TEXTS.reshape(2, 3), TEXTS[1:3])
        for mark in (0, 1)
        for least in (1, 2)
        if least == 1 or method not in ({"tokenexp": "."}, {"separators": [""]})
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
def test_unsupported_tokenizers_are_refused(attributes, reason):
    attrs = PLAIN | attributes
    node = helper.make_node("Tokenizer", ["x"], ["y"], domain="com.microsoft", **attrs)
    string = helper.TensorProto.STRING
    ends = [small.value("x", [2], string)], [small.value("y", [2, None], string)]
    with pytest.raises(UnsupportedModel, match=reason):
        convert(small.model([node], *ends))
