"""Determine which words of its parameter block a call writes.

The declaration of its loop says so, or else its source, and those of the loops that it calls.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from tools import access, store

from .call import (
    INLINE,
    UNKNOWN,
    Call,
    Loop,
    Part,
    accesses,
    declaration,
    has_plain,
    named,
    size_of,
)

ALL = frozenset({-1})  # unknown indices
_TRIED = (0, 1, 5)  # values tried for words that are only known in a run
_TYPES = ("ptr", "ptr8", "ptr16", "ptr32", "int", "uint")  # casts of viper


Written = Iterator[tuple[Part, frozenset[int]]]


def writes_of(call: Call) -> Written:
    """Yield the parts of blocks that a call writes, and the indices in each part."""
    if call.loop.family.startswith(INLINE):
        return  # the templates of ops/_inline write to out alone
    function = _function(call.loop)
    if function is None:  # no plain form to parse
        yield from ((part, ALL) for part in _parts(call.arguments))
        return
    declared = _declared(call)
    yield from _written(call, function) if declared is None else declared


def _parts(arguments: Sequence[Any]) -> Iterator[Part]:
    """Yield the parts of blocks among arguments, also those in tuples."""
    for each in arguments:
        if isinstance(each, tuple):
            yield from _parts(each)
        elif isinstance(each, Part):
            yield each


@cache
def _function(loop: Loop) -> Callable | None:
    """Return the plain form of a loop, a Python function; None if it has none."""
    if not has_plain(loop.family):
        return None
    return getattr(import_module(f"mpconnxr.loops.{loop.family}"), loop.name)


def _words(call: Call, part: Part) -> list[Any]:
    """Return the words of a part of a block, as the call finds them."""
    return call.words[part.block][part.first : part.last]


def _declared(call: Call) -> list[tuple[Part, frozenset[int]]] | None:
    """Return (part of a block, indices) that a call writes by its loop's declaration.

    Returns None if the loop declares nothing, or the declaration cannot be evaluated.
    """
    try:
        accessed = accesses(call)
    except access.AccessError:
        return None
    if accessed is None:
        return None
    parts = {name: each for name, each in named(call).items() if isinstance(each, Part)}
    written = [a for a in accessed if a.kind == "writes" and a.argument in parts]
    return [(parts[a.argument], frozenset(range(a.low, a.high))) for a in written]


def _written(call: Call, function: Callable) -> Written:
    """Yield (part of a block, indices) that a call writes, from the source of its loop.

    For a driver this includes the loops in its list.
    """
    own = [
        (call.arguments[i], indexes)
        for i, indexes in written(function).items()
        if isinstance(call.arguments[i], Part)
    ]
    yield from own
    for argument in call.arguments:
        if isinstance(argument, tuple):
            yield from _DriverWrites(call, argument, own).written(function)


class _DriverWrites:
    """Find what the loops in a driver's list write to its block.

    A driver is a loop that calls others.

    Args:
        call: the driver's call.
        listed: the elements of its list w.
        own: (part of the block, indices) that the driver itself writes.
    """

    def __init__(self, call: Call, listed: Sequence[Any], own: list[tuple[Part, frozenset[int]]]):
        self._call, self._listed = call, listed
        self._set = {part.first + i for part, indexes in own for i in indexes if i >= 0}
        self._is_open = any(indexes == ALL for _, indexes in own)

    def written(self, driver: Callable) -> Written:
        """Yield (part of a block, indices) that the loops write which `driver` calls."""
        elements = self._listed
        try:
            calls = inner_calls(driver)
        except LookupError:
            yield from ((part, ALL) for part in elements if isinstance(part, Part))
            return
        for at, places in calls:
            loop = elements[at]
            if not isinstance(loop, Loop) or loop.is_rare:
                continue  # rare loops write to tensors alone
            args = [elements[p] if p is not None and p >= 0 else None for p in places]
            yield from self._of_call(loop, args)
            function = _function(loop)
            if -1 in places and function is not None:
                yield from self.written(function)

    def _of_call(self, loop: Loop, args: list[Any]) -> Written:
        function = _function(loop)
        if function is None:
            yield from ((a, ALL) for a in args if isinstance(a, Part))
            return
        for i, indexes in written(function).items():
            if isinstance(args[i], Part):
                yield args[i], self._declared(loop, args, i) if indexes == ALL else indexes

    def _declared(self, loop: Loop, args: list[Any], position: int) -> frozenset[int]:
        """Return the indices of one argument that an inner loop writes by its declaration, or ALL.

        The driver sets some words of the block before it calls the loop, so these are unknown
        here. Several values are tried for them; unless all give the same indices, the result is
        ALL.

        Args:
            loop: the inner loop.
            args: its arguments, elements of the driver's list or None; the last one is its block.
            position: index of the argument in `args`.
        """
        declared, block = declaration(loop), args[-1]
        if declared is None or self._is_open or not isinstance(block, Part):
            return ALL
        sizes = {name: size_of(each)[0] for name, each in zip(declared.args, args, strict=True)}
        lengths = {name: n for name, n in sizes.items() if n is not None}
        outcomes = set()
        for number in _TRIED:
            words = [
                number if block.first + i in self._set or word is UNKNOWN else word
                for i, word in enumerate(_words(self._call, block))
            ]
            try:
                accesses = declared.accesses(words, lengths)
            except access.AccessError:
                return ALL
            name = declared.args[position]
            of = [a for a in accesses if a.kind == "writes" and a.argument == name]
            outcomes.add(frozenset(i for a in of for i in range(a.low, a.high)))
        return outcomes.pop() if len(outcomes) == 1 else ALL


@cache
def written(function: Callable) -> dict[int, frozenset[int]]:
    """Return {position of an argument: written indices, or ALL}.

    Functions that it calls by name count too.
    """
    tree = _tree(function)
    names = [a.arg for a in tree.args.args]
    result: dict[int, set[int]] = {}
    for target, index in _stores(tree):
        if target in names:
            result.setdefault(names.index(target), set()).add(index)
    for call in ast.walk(tree):
        helper = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        helper = helper and function.__globals__.get(call.func.id)
        if inspect.isfunction(helper) and helper is not function:
            inner = written(helper)
            for i, argument in enumerate(call.args):
                if i in inner and isinstance(argument, ast.Name) and argument.id in names:
                    result.setdefault(names.index(argument.id), set()).update(inner[i])
    return {i: ALL if -1 in indexes else frozenset(indexes) for i, indexes in result.items()}


@cache
def _tree(function: Callable) -> ast.FunctionDef:
    """Return a function's syntax tree; a loop's as built, with helpers inlined."""
    package, _, family = function.__module__.rpartition(".")
    if package != "mpconnxr.loops":
        return ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    body = ast.parse(store.loops().path(family).read_text()).body
    return next(node for node in body if getattr(node, "name", "") == function.__name__)


def _stores(tree: ast.FunctionDef) -> list[tuple[str, int]]:
    """Return (name, index) of each assignment to an element, in source order; -1 for any index.

    An index may be a name that holds a number since the line before: `i = 12`, `p[i] = n`.
    """
    stores: list[tuple[str, int]] = []
    known: dict[str, int] = {}

    def walk(body: list[ast.stmt]) -> None:
        for node in body:
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            for target in [t for t in targets if t is not None]:
                for each in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(each, ast.Subscript) and isinstance(each.value, ast.Name):
                        stores.append((each.value.id, _value(each.slice, known)))
                    elif isinstance(each, ast.Name):
                        known.pop(each.id, None)
                        if isinstance(node, ast.Assign) and _value(node.value, {}) >= 0:
                            known[each.id] = _value(node.value, {})
            inner = [getattr(node, part, []) for part in ("body", "orelse", "finalbody")]
            for part in inner:
                if part:
                    changed = {n.id for n in ast.walk(node) if _is_stored(n)}
                    for name in changed:
                        known.pop(name, None)
                    walk(part)
                    for name in changed:
                        known.pop(name, None)

    walk(tree.body)
    return stores


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _value(node: ast.expr, known: dict[str, int]) -> int:
    """Return the value of an expression of numbers and known names; -1 for others."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.Name):
        return known.get(node.id, -1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _value(node.left, known), _value(node.right, known)
        return left + right if min(left, right) >= 0 else -1
    return -1


@cache
def inner_calls(driver: Callable) -> tuple[tuple[int, tuple[int | None, ...]], ...]:
    """Return the calls that a driver makes of loops in its list w.

    Returns:
        For each call the index of the loop in the list, and of each argument (None: not from the
        list, -1: the list itself).

    Raises:
        LookupError: if a call cannot be followed.
    """
    tree = _tree(driver)
    places = {"w": -1}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            place = _place(node.value)
            if place is not None:
                name = node.targets[0].id
                if places.setdefault(name, place) != place:
                    raise LookupError(f"{driver.__name__}: {name} has two meanings")
    calls = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in places:
                names = [a.id if isinstance(a, ast.Name) else "" for a in node.args]
                calls.append((places[node.func.id], tuple(places.get(n) for n in names)))
            elif node.func.id not in _TYPES:
                raise LookupError(f"{driver.__name__} calls {node.func.id}")
    return tuple(calls)


def _place(node: ast.expr) -> int | None:
    """Return i of the expression w[i]; None for others."""
    is_element = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
    if is_element and isinstance(node.value, ast.Name) and node.value.id == "w":
        return node.slice.value
    return None
