"""Refuse sources that behave differently in Python than after their expansion.

Python gives a helper names of its own, and evaluates arguments and range() once. The expander
substitutes texts for names, and writes while loops.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from functools import cache

from .source import Helper, Source

_VIPER = {"const", "ptr", "ptr8", "ptr16", "ptr32", "uint", "micropython"}


@cache
def check_function(source: Source, function: ast.FunctionDef) -> None:
    """Refuse a function with loops whose counter or end would have another value in Python.

    Raises:
        LoopError: if it has such a loop.
    """
    _Stale(source).block(function.body, set())
    for node in ast.walk(function):
        if isinstance(node, ast.For):
            _check_loop(source, node)
        if isinstance(node, ast.For | ast.While) and node.orelse:
            raise source.wrong(node, "a loop has no else")


@cache
def check_helper(helper: Helper, keeps_names: bool) -> None:
    """Check that a helper uses names only by its parameters and results.

    Args:
        helper: the helper.
        keeps_names: True if no other code has names: the helper may assign others than its
            results.

    Raises:
        LoopError: if it uses other names.
    """
    source, function = helper.source, helper.function
    check_function(source, function)
    mine = stored(helper.body)
    lost = [name for name in mine if name not in helper.results]
    if lost and not keeps_names:
        raise source.wrong(function, f"{helper.name} assigns {lost[0]}, but does not return it")
    for name in helper.results:
        if name not in mine and name not in helper.params:
            raise source.wrong(function, f"{helper.name} returns {name}, but does not assign it")
    counters = {n.target.id for n in ast.walk(function) if _is_unrolled(n)}
    known = {*mine, *helper.params, *counters, *source.known, *dir(builtins), *_VIPER}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id not in known | {"inline"}:
            raise source.wrong(node, f"{node.id} is no parameter of {helper.name}")


def check_call(
    source: Source, call: ast.Call, helper: Helper, texts: dict[str, str], targets: dict[str, str]
) -> None:
    """Refuse a call with arguments that the helper would read again after it has changed them.

    Args:
        source: source of the call.
        call: the call.
        helper: the helper.
        texts: texts of its arguments, by parameter.
        targets: names that its results are assigned to, by result.

    Raises:
        LoopError: if it has such an argument.
    """
    changed = stored(helper.body)
    for name in helper.params:
        if name in changed and name in helper.results and targets[name] != texts[name]:
            what = f"{helper.name} changes {texts[name]}, which is not where {name} goes"
            raise source.wrong(call, what)
    reads = {name: _names_in(text) for name, text in texts.items()}
    places = {name: _names_in(text) for name, text in targets.items()}
    late = {
        name: {other for other in places if other != name and places[other] & reads[name]}
        for name in helper.params
    }
    _Changed(source, call, helper, late).block(helper.body, set())


def stored(body: Iterable[ast.stmt]) -> list[str]:
    """Return the names that statements assign, except for the counters of unroll()."""
    counters: set[str] = set()
    names: list[str] = []
    for statement in body:
        for node in ast.walk(statement):
            if _is_unrolled(node):
                counters.add(node.target.id)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.append(node.id)
    return [name for name in dict.fromkeys(names) if name not in counters]


def undefined_names(source: Source, node: ast.stmt) -> set[str]:
    """Return the names that a statement assigns but may leave without a value."""
    if not isinstance(node, ast.Assign):
        return set()
    if isinstance(node.value, ast.Name) and node.value.id == "undefined":
        return set().union(*map(_loaded_names, node.targets))
    helper = isinstance(node.value, ast.Call) and source.helpers.get(ast.unparse(node.value.func))
    if not helper:
        return set()
    target = node.targets[0]
    targets = target.elts if isinstance(target, ast.Tuple) else [target]
    unsure = _undefined_in(helper)
    pairs = zip(targets, helper.results, strict=False)
    return set().union(*(_loaded_names(part) for part, name in pairs if name in unsure))


@cache
def _undefined_in(helper: Helper) -> set[str]:
    statements = (node for node in ast.walk(helper.function) if isinstance(node, ast.stmt))
    return set().union(*(undefined_names(helper.source, node) for node in statements))


def _check_loop(source: Source, loop: ast.For) -> None:
    call = loop.iter
    if not isinstance(call, ast.Call):
        raise source.wrong(loop, "loops are over range(), unroll() or a helper")
    counters = _loaded_names(loop.target)
    changed = set(stored(loop.body))
    if counters & changed:
        raise source.wrong(loop, f"the loop assigns {min(counters & changed)} itself")
    if any(isinstance(node, ast.Continue) for node in _inside(loop)):
        raise source.wrong(loop, "a continue would leave out how the loop goes on")
    call = call.args[0] if _is_call(call, "far") else call
    ends = call.args[1:] if _is_call(call, "range") and len(call.args) > 1 else call.args
    if late := set().union(*map(_loaded_names, ends)) & changed:
        raise source.wrong(loop, f"the loop assigns {min(late)}, on which its end depends")
    if any(isinstance(node, ast.Subscript) for end in ends for node in ast.walk(end)):
        for node in _inside(loop, loops=True):
            if isinstance(node, ast.Call) and _is_unknown(source, node):
                what = f"{ast.unparse(node.func)}() may change the end of the loop"
                raise source.wrong(loop, what)
    if not _is_call(call, "range") and any(isinstance(node, ast.Break) for node in _inside(loop)):
        raise source.wrong(loop, "a break would leave another loop")


def _inside(loop: ast.For, loops: bool = False) -> Iterator[ast.AST]:
    """Yield the nodes in a loop; with `loops` also the nodes in inner loops."""
    left: list[ast.AST] = list(loop.body)
    while left:
        node = left.pop()
        yield node
        if loops or not isinstance(node, ast.For | ast.While):
            left += ast.iter_child_nodes(node)


def _is_unknown(source: Source, call: ast.Call) -> bool:
    """Return True for a call of a function that is no helper and unknown to Python and viper."""
    name = ast.unparse(call.func)
    return name not in {*source.helpers, *dir(builtins), *_VIPER, "far", "unroll"}


class _Flow:
    """Analysis of all paths through statements, with a state of facts about names."""

    def __init__(self, source: Source):
        self._source = source

    def read(self, name: ast.Name, state: set[str]) -> None:
        """Check a name that is read."""

    def store(self, name: str, state: set[str]) -> None:
        """Update the state for a name that is assigned."""

    def leave(self, counters: set[str], state: set[str]) -> None:
        """Update the state for the counters of a loop that has ended."""

    def block(self, body: list[ast.stmt], state: set[str]) -> set[str]:
        for node in body:
            state = self._statement(node, state)
        return state

    def _statement(self, node: ast.stmt, state: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            self._reads(node.test, state)
            return self.block(node.body, set(state)) | self.block(node.orelse, set(state))
        if isinstance(node, ast.While):
            for _ in range(2):
                self._reads(node.test, state)
                state = state | self.block(node.body, set(state))
            return state
        if isinstance(node, ast.For):
            self._reads(node.iter, state)
            for _ in range(2):
                inside = set(state)
                self._stores(node.target, inside)
                state = state | self.block(node.body, inside)
            self.leave(_loaded_names(node.target), state)
            return state
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple):
            for target in node.targets:
                parts = target.elts if isinstance(target, ast.Tuple) else [target]
                for part, value in zip(parts, node.value.elts, strict=False):
                    self._reads(value, state)
                    self._stores(part, state)
            return state
        self._reads(node, state)
        self._stores(node, state)
        return state

    def _reads(self, node: ast.AST, state: set[str]) -> None:
        for name in _names_read_by(node):
            self.read(name, state)

    def _stores(self, node: ast.AST, state: set[str]) -> None:
        for name in _names_stored_by(node):
            self.store(name, state)


class _Stale(_Flow):
    """State: counters that are one further in a while loop than in Python.

    Names with a question mark may be undefined, but a helper returns them nevertheless.
    """

    def read(self, name: ast.Name, state: set[str]) -> None:
        if name.id in state:
            raise self._source.wrong(name, f"{name.id} is read behind the loop that counts it")
        if f"?{name.id}" in state:
            raise self._source.wrong(name, f"{name.id} may be undefined")

    def store(self, name: str, state: set[str]) -> None:
        state -= {name, f"?{name}"}

    def leave(self, counters: set[str], state: set[str]) -> None:
        state |= counters

    def _statement(self, node: ast.stmt, state: set[str]) -> set[str]:
        if isinstance(node, ast.Return):
            self._reads(node, {name for name in state if name[0] != "?"})
            return state
        state = super()._statement(node, state)
        return state | {f"?{name}" for name in undefined_names(self._source, node)}


class _Changed(_Flow):
    """State: names that a helper has assigned."""

    def __init__(self, source: Source, call: ast.Call, helper: Helper, late: dict[str, set[str]]):
        super().__init__(source)
        self._call, self._helper, self._late = call, helper, late

    def read(self, name: ast.Name, state: set[str]) -> None:
        if changed := self._late.get(name.id, set()) & state:
            what = f"{self._helper.name} assigns {min(changed)} before it reads {name.id}"
            raise self._source.wrong(self._call, what)

    def store(self, name: str, state: set[str]) -> None:
        state.add(name)


@cache
def _names_read_by(node: ast.AST) -> list[ast.Name]:
    """Return the names that a statement or an expression reads, `x` in `x += 1` among them."""
    result = []
    for part in ast.walk(node):
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            result.append(part.target)
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            result.append(part)
    return result


@cache
def _names_stored_by(node: ast.AST) -> list[str]:
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return [name.id for name in names if isinstance(name.ctx, ast.Store)]


def _is_unrolled(node: ast.AST) -> bool:
    return isinstance(node, ast.For) and _is_call(node.iter, "unroll")


def _is_call(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


@cache
def _loaded_names(node: ast.AST) -> frozenset[str]:
    return frozenset(part.id for part in ast.walk(node) if isinstance(part, ast.Name))


@cache
def _names_in(text: str) -> frozenset[str]:
    return _loaded_names(ast.parse(text, mode="eval"))
