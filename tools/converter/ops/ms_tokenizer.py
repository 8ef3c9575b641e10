"""Lower com.microsoft's Tokenizer, with which skl2onnx exports vectorizers, to string_tokenize."""

from __future__ import annotations

import re

import numpy as np

from tools.format.objects import OPEN, STRING, string_array, text_of

from ..errors import Problem
from . import MS, lowers
from ._regex import automaton, has_conditions
from ._strings import require_fixed, set_open

# The automaton for any one character. Its states: start, match, behind the match.
_CHARACTER = [0], [0], [[0, 1], [1, 2], [0, 2]]

# Whole words of some length. The longest match ends at the end of a word, so that the boundaries
# are redundant.
_WHOLE_WORDS = re.compile(r"\\b((?:\\w)+(?:\+|\{\d+,\}))\\b")


def _infer(node):
    return [(STRING, [*node.inputs[0].shape, OPEN])]


@lowers("Tokenizer", domain=MS, infer=_infer, objects=True)
def lower_tokenizer(node):
    """Lower Tokenizer to string_tokenize.

    The attribute tokenexp is a regular expression that matches tokens; or `separators` are regular
    expressions that match what is between tokens. If tokenexp is "." or separators is [""], each
    character is a token.
    """
    x, out = node.inputs[0], node.outputs[0]
    require_fixed(x)
    if x.dtype != STRING or len(x.shape) not in (1, 2) or not x.nelem:
        raise Problem(f"input {x}, strings of shape [C] or [N, C] are needed")
    automata, splits, min_length = _read_attributes(node)
    set_open(out, (*x.shape, OPEN))
    constants = [
        string_array([_attribute(node, "pad_value", str)]),
        _joined([starts for starts, _, _ in automata]),
        _joined([row for _, _, table in automata for row in table]),
        _joined([classes for _, classes, _ in automata]),
    ]
    sizes = [
        n for starts, _, table in automata for n in (len(table), len(table[0]) - 1, len(starts))
    ]
    node.emit(
        "string_tokenize",
        [x, *map(node.constant, constants)],
        [out],
        splits=splits,
        marked=_attribute(node, "mark", int) != 0,
        least=min_length,
        sizes=sizes,
    )


def _read_attributes(node):
    """Return automata, whether these match separators, and the minimum length of a token."""
    token = node.attr("tokenexp", "")
    separators = [text_of(s) for s in node.attr("separators", [])]
    if not isinstance(token, str) or bool(token) == bool(separators):
        raise Problem("one of tokenexp and separators is needed")
    min_length = _attribute(node, "mincharnum", int)
    if min_length < 1:
        raise Problem(f"mincharnum {min_length}")
    if token != "." and separators != [""]:
        splits = bool(separators)
        return [_compile(p, splits) for p in separators or [token]], splits, min_length
    if min_length > 1:
        raise Problem(f"mincharnum {min_length} of tokens of one character")
    return [_CHARACTER], False, min_length


def _attribute(node, name, kind):
    value = node.attr(name)
    if not isinstance(value, kind):
        raise Problem(f"attribute {name}: {value}")
    return value


def _compile(pattern, splits):
    word = _WHOLE_WORDS.fullmatch(pattern)
    if word and not splits:
        pattern = word[1]
    if has_conditions(pattern):
        remedy = r"the longest matches are taken: \w+ finds whole words without \b"
        raise Problem(f"pattern {pattern!r}: an anchor or a boundary of words", remedy)
    compiled = automaton(pattern)
    if splits and compiled[2][0][0]:
        raise Problem(f"separator {pattern!r}, which matches an empty string")
    return compiled


def _joined(parts):
    return np.array([v for part in parts for v in part], np.int32)
