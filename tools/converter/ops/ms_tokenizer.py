"""com.microsoft's Tokenizer -> kernel string_tokenize. skl2onnx exports vectorizers with it."""

from __future__ import annotations

import re

import numpy as np

from tools.format.objects import OPEN, STRING, string_array, text_of

from ..errors import Problem
from . import MS, lowers
from ._regex import automaton, has_conditions
from ._strings import require_fixed, set_open

# Of one character, whatever it is: start, match, and what is behind it.
_CHARACTER = [0], [0], [[0, 1], [1, 2], [0, 2]]

# Whole words of some length: the longest match from the left ends where the word does, so the
# boundaries say nothing new.
_WHOLE_WORDS = re.compile(r"\\b((?:\\w)+(?:\+|\{\d+,\}))\\b")


def _infer(node):
    return [(STRING, [*node.inputs[0].shape, OPEN])]


@lowers("Tokenizer", domain=MS, infer=_infer, objects=True)
def lower_tokenizer(node):
    """By tokenexp, what tokens are, or by separators, what is between them.

    Both have a form that stands for characters, each of which is a token: "." and [""].
    """
    x, out = node.inputs[0], node.outputs[0]
    require_fixed(x)
    if x.dtype != STRING or len(x.shape) not in (1, 2) or not x.nelem:
        raise Problem(f"input {x}, strings of shape [C] or [N, C] are needed")
    machines, splits, least = _read(node)
    set_open(out, (*x.shape, OPEN))
    constants = [
        string_array([_needed(node, "pad_value", str)]),
        _joined([starts for starts, _, _ in machines]),
        _joined([row for _, _, table in machines for row in table]),
        _joined([classes for _, classes, _ in machines]),
    ]
    sizes = [
        n for starts, _, table in machines for n in (len(table), len(table[0]) - 1, len(starts))
    ]
    node.emit(
        "string_tokenize",
        [x, *map(node.constant, constants)],
        [out],
        splits=splits,
        marked=_needed(node, "mark", int) != 0,
        least=least,
        sizes=sizes,
    )


def _read(node):
    """(automata, whether they match what is between tokens, characters of a token)"""
    token = node.attr("tokenexp", "")
    separators = [text_of(s) for s in node.attr("separators", [])]
    if not isinstance(token, str) or bool(token) == bool(separators):
        raise Problem("one of tokenexp and separators is needed")
    least = _needed(node, "mincharnum", int)
    if least < 1:
        raise Problem(f"mincharnum {least}")
    if token != "." and separators != [""]:
        splits = bool(separators)
        return [_machine(p, splits) for p in separators or [token]], splits, least
    if least > 1:
        raise Problem(f"mincharnum {least} of tokens of one character")
    return [_CHARACTER], False, least


def _needed(node, name, kind):
    value = node.attr(name)
    if not isinstance(value, kind):
        raise Problem(f"attribute {name}: {value}")
    return value


def _machine(pattern, splits):
    word = _WHOLE_WORDS.fullmatch(pattern)
    if word and not splits:
        pattern = word[1]
    if has_conditions(pattern):
        todo = r"the longest matches are taken: \w+ finds whole words without \b"
        raise Problem(f"pattern {pattern!r}: an anchor or a boundary of words", todo)
    found = automaton(pattern)
    if splits and found[2][0][0]:
        raise Problem(f"separator {pattern!r}, which matches an empty string")
    return found


def _joined(parts):
    return np.array([v for part in parts for v in part], np.int32)
