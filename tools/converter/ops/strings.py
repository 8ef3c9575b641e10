"""Lower operators on strings to their kernels, and moves of strings to string_pick and others."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from tools.format.objects import OPEN, STRING, string_array

from ..errors import Problem
from . import ML, lowers
from ._dtypes import BOOL, DOUBLE, FLOAT, INT64
from ._regex import automaton
from ._strings import broadcast, pick_or_alias, require_fixed, set_open
from .cast import emit_cast
from .constant import evaluate

_CASES = ("NONE", "LOWER", "UPPER")
_JOINS = ("StringConcat", "Equal")  # in the kernel's order


@lowers(*_JOINS, objects=True)
def lower_join(node):
    out = node.outputs[0]
    pair = [broadcast(node, x, out.shape) for x in node.inputs]
    node.emit("string_join", pair, [out], op=_JOINS.index(node.op))


@lowers("Where", objects=True)
def lower_where(node):
    out = node.outputs[0]
    parts = [broadcast(node, x, out.shape) for x in node.inputs]
    node.emit("string_select", parts, [out])


def _infer_normalizer(node):
    return [(STRING, list(_normalized_shape(node)))]


def _normalized_shape(node):
    """Return the shape of a StringNormalizer's output.

    It is the shape of x if no word can be dropped, or if "" would replace the only word.
    """
    x = node.inputs[0]
    is_fixed = not x.is_open_object and (
        x.nelem == 1 or (x.nelem and not node.attr("stopwords", []))
    )
    return x.shape if is_fixed else (*x.shape[:-1], OPEN)


@lowers("StringNormalizer", infer=_infer_normalizer, objects=True)
def lower_normalizer(node):
    """Lower StringNormalizer. The locale is ignored: cases change as in Unicode."""
    x, out = node.inputs[0], node.outputs[0]
    if len(x.shape) not in (1, 2) or (len(x.shape) == 2 and x.shape[0] != 1):
        raise Problem(f"input of shape {list(x.shape)}, [C] or [1, C] is needed")
    case = node.attr("case_change_action", "NONE")
    if case not in _CASES:
        raise Problem(f"case_change_action {case}")
    heeds = bool(node.attr("is_case_sensitive", 0))
    out.shape = _normalized_shape(node)
    stopwords = node.constant(string_array(node.attr("stopwords", [])))
    changes = case != "NONE" or not heeds
    table = node.constant(_case_table() if changes else np.zeros((0, 4), np.int32))
    params = {"case": _CASES.index(case), "heeds_case": heeds}
    node.emit("string_normalizer", [x, stopwords, table], [out], **params)


@cache
def _case_table() -> np.ndarray:
    """Return runs of letters with one counterpart: to lower case, then as many to upper case."""
    halves = [_runs(str.lower), _runs(str.upper)]
    rows = max(map(len, halves))
    return np.concatenate([np.resize(half, (rows, 4)) for half in halves]).astype(np.int32)


def _runs(change) -> np.ndarray:
    """Return (first, last, step, difference) of code points with equal steps and differences."""
    runs: list[list[int]] = []
    for code in range(128, 0x110000):
        other = change(chr(code))
        if len(other) != 1 or ord(other) == code:
            continue
        run = runs[-1] if runs else [0, 0, 0, 0]
        step = code - run[1]
        if run[3] == ord(other) - code and step == (run[2] or step) and step <= 2:
            run[1], run[2] = code, step
        else:
            runs.append([code, code, 0, ord(other) - code])
    return np.array([[first, last, step or 1, delta] for first, last, step, delta in runs])


@lowers("StringSplit", objects=True)
def lower_split(node):
    x, (out, count) = node.inputs[0], (*node.outputs, None)[:2]
    require_fixed(x)
    out = out or node.temp(STRING, (*x.shape, OPEN))
    count = count or node.temp(INT64, x.shape)
    set_open(out, (*x.shape, OPEN))
    most = node.attr("maxsplit")
    delimiter = node.constant(string_array([node.attr("delimiter") or ""]))
    most = -1 if most is None or most < 0 else most
    node.emit("string_split", [x, delimiter], [out, count], most=most, dims=x.shape)


@lowers("RegexFullMatch", objects=True)
def lower_regex(node):
    x = node.inputs[0]
    require_fixed(x)
    starts, classes, table = automaton(node.attr("pattern") or "")
    constants = [node.constant(np.array(v, np.int32)) for v in (starts, table, classes)]
    sizes = {"states": len(table), "classes": len(table[0]) - 1}
    node.emit("string_match", [x, *constants], node.outputs, **sizes)


@lowers("Cast", "CastLike", objects=True)
def lower_cast(node):
    x, out = node.inputs[0], node.outputs[0]
    if x.dtype == out.dtype:
        require_fixed(x)
        node.alias(out, x)
        return
    require_fixed(x, out)
    if out.dtype == STRING:
        node.emit("string_format", [_plain(node, x)], [out])
        return
    if out.dtype == BOOL:
        raise Problem("strings as bool", "compare them with Equal")
    direct = out if out.dtype in (FLOAT, DOUBLE) or out.np_dtype.kind in "iu" else None
    parsed = direct or node.temp(FLOAT, x.shape)
    node.emit("string_parse", [x], [parsed])
    if parsed is not out:
        emit_cast(node, parsed, out, node.attr("saturate", 1), node.attr("round_mode", "up"))


def _plain(node, x):
    """Return x, in float32 if it has narrow floats."""
    if x.dtype in (FLOAT, DOUBLE) or x.np_dtype.kind in "iub":
        return x
    wide = node.temp(FLOAT, x.shape)
    emit_cast(node, x, wide)
    return wide


@lowers("Flatten", "Identity", objects=True)
@lowers("Reshape", "Squeeze", "Unsqueeze", fixes_shape=(1,), objects=True)
def lower_alias(node):
    """Lower reshapes. Strings of an open number are copied, as each copy has its own shape."""
    x, out = node.inputs[0], node.outputs[0]
    if x.dtype != STRING or out.dtype != STRING:
        raise Problem("a map")
    if not x.is_open_object:
        node.alias(out, x)
        return
    shape = x.shape if node.op == "Identity" else out.shape
    if node.op == "Reshape" and OPEN not in shape:
        sizes = node.const(1).tolist()
        shape = tuple(x.shape[i] if d == 0 else d for i, d in enumerate(sizes))
    if shape.count(OPEN) != 1:
        raise Problem(f"strings whose number only a run knows, in shape {list(shape)}")
    set_open(out, shape)
    node.emit("string_reshape", [x], [out], dims=shape)


@lowers("Concat", "Transpose", "DepthToSpace", "SpaceToDepth", objects=True)
@lowers("Slice", fixes_shape=(1, 2, 3, 4), objects=True)
@lowers("Split", "Expand", "Tile", fixes_shape=(1,), objects=True)
@lowers("Compress", "GatherElements", "GatherND", objects=True)
def lower_moves(node):
    """Lower operators that only move strings.

    They are evaluated at conversion with the numbers of the strings, which shows where each goes.
    """
    require_fixed(*node.inputs)
    strings = [x for x in node.inputs if x is not None and x.dtype == STRING]
    numbered, first = {}, 0
    for x in dict.fromkeys(strings):
        numbered[x] = np.arange(first, first + x.nelem, dtype=np.int64).reshape(x.shape)
        first += x.nelem
    values = [
        None if x is None else numbered[x] if x in numbered else node.const(i)
        for i, x in enumerate(node.inputs)
    ]
    for out, table in zip(node.outputs, evaluate(node, values), strict=True):
        if out is not None:
            out.shape = table.shape
            pick_or_alias(node, list(numbered), table, out)


@lowers("Gather", objects=True)
def lower_gather(node):
    x, index = node.inputs
    if index.data is not None:
        lower_moves(node)
        return
    require_fixed(x)
    _emit_gather(node, x, index, node.outputs[0], node.attr("axis", 0) % len(x.shape))


@lowers("ArrayFeatureExtractor", domain=ML, objects=True)
def lower_extractor(node):
    """Lower ArrayFeatureExtractor: elements of the last axis."""
    x, index = node.inputs
    require_fixed(x)
    _emit_gather(node, x, index, node.outputs[0], len(x.shape) - 1)


def _emit_gather(node, x, index, out, axis):
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 :])
    node.emit("string_gather", [x, index], [out], outer=outer, n=x.shape[axis], inner=inner)
