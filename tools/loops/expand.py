"""Expand a source's statements to viper's subset: helpers inline, `for` as `while`.

Text and comments are kept; only expanded statements are written anew.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from .flow import check_call, check_helper
from .source import Helper, Source, is_helper

Lines = list[str]
_INDENT = "    "
_CLAMPS = {"min": (">", "<"), "max": ("<", ">")}
_OPERATIONS = (ast.BinOp, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.IfExp)
_ENDS = {ast.Lt: ">=", ast.NotEq: "=="}


class Code:
    """The statements of a function, or of a helper at one of its calls.

    Args:
        source: source of the function.
        viper: False for a plain form, which computes min() and assigns tuples itself.
        names: texts that replace parameters and results.
        counters: numbers that replace the counters of unroll().
        inner: returns the lines that replace `yield`.
    """

    def __init__(
        self,
        source: Source,
        viper: bool,
        names: dict[str, str] | None = None,
        counters: dict[str, int] | None = None,
        inner: Callable[[], Lines] | None = None,
    ):
        self._source, self._viper, self._inner = source, viper, inner
        self._names, self._counters = names or {}, counters or {}
        self._helpers = source.helpers

    def block(self, body: list[ast.stmt], above: int) -> Lines:
        """Return the lines of statements, not indented; `above` is the line before them."""
        lines, comments = [], self._source.comments
        for node in body:
            lines += [comments[i] for i in range(above + 1, node.lineno) if i in comments]
            above = node.end_lineno
            made = self._statement(node)
            behind = comments.get(_head(node).end_lineno)
            if behind and made:
                made[0] += f"  {behind}"
            lines += made
        return lines

    def _statement(self, node: ast.stmt) -> Lines:
        if isinstance(node, ast.If):
            return self._if(node)
        if isinstance(node, ast.While):
            return self._while(node)
        if isinstance(node, ast.For):
            return self._for(node)
        if isinstance(node, ast.Expr):
            if isinstance(node.value, ast.Yield):
                return self._inner()
            if self._helper(node.value):
                return self._call(node.value, [])
        if isinstance(node, ast.Assign):
            if self._helper(node.value) and len(node.targets) == 1:
                return self._call(node.value, _parts(node.targets[0]))
            if isinstance(node.value, ast.Name) and node.value.id == "undefined":
                return []
            if self._viper:
                return self._assign(node)
        return [self._text(node)]

    def _inside(self, node: ast.If | ast.While | ast.For) -> Lines:
        return _indented(self.block(node.body, _head(node).end_lineno))

    def _if(self, node: ast.If) -> Lines:
        lines = [f"if {self._value(node.test)}:", *self._inside(node)]
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            first, *rest = self.block(node.orelse, node.orelse[0].lineno - 1)
            lines += [f"el{first}", *rest]
        elif node.orelse:
            lines += ["else:", *_indented(self.block(node.orelse, node.body[-1].end_lineno))]
        return lines

    def _while(self, node: ast.While) -> Lines:
        test = node.test
        if not _is_call(test, "far"):
            return [f"while {self._value(test)}:", *self._inside(node)]
        test = test.args[0]
        if isinstance(test, ast.Compare):
            left, right = self._value(test.left), self._value(test.comparators[0])
            return [*_far(f"{left} {_ENDS[type(test.ops[0])]} {right}"), *self._inside(node)]
        return [*_far(f"{self._value(test)} == 0"), *self._inside(node)]

    def _for(self, node: ast.For) -> Lines:
        call = node.iter
        if self._helper(call):
            inner = partial(self.block, node.body, call.end_lineno)
            return self._call(call, _parts(node.target), inner)
        i = self._value(node.target)
        if _is_call(call, "unroll"):
            lines = []
            for n in range(*(int(self._value(arg)) for arg in call.args)):
                counters = {**self._counters, i: n}
                code = Code(self._source, self._viper, self._names, counters, self._inner)
                lines += code.block(node.body, call.end_lineno)
            return lines
        is_far = _is_call(call, "far")
        call = call.args[0] if is_far else call
        if not _is_call(call, "range"):
            raise self._source.wrong(node, "loops are over range(), unroll() or a helper")
        args = [self._value(arg) for arg in call.args]
        first, end, step = ["0", *args, "1"] if len(args) == 1 else [*args, "1"][:3]
        if (end, step) == ("0", "-1"):
            head = _far(f"{i} == 0") if is_far else [f"while {i}:"]
            by = f"{i} -= 1"
        elif step.startswith("-"):
            raise self._source.wrong(node, "a loop counts down by 1, to 0")
        else:
            head = _far(f"{i} >= {end}") if is_far else [f"while {i} < {end}:"]
            by = f"{i} += {step}"
        return [f"{i} = {first}", *head, *self._inside(node), _INDENT + by]

    def _assign(self, node: ast.Assign) -> Lines:
        """Expand several targets to one assignment each, min(), max() and abs() to conditions."""
        if len(node.targets) > 1:
            return [f"{self._text(t)} = {self._value(node.value)}" for t in node.targets]
        target, value = node.targets[0], node.value
        if not isinstance(target, ast.Tuple):
            return self._set(self._text(target), value)
        names = [self._text(name) for name in target.elts]
        if isinstance(value, ast.Subscript):  # p[3:6]
            array, ends = self._text(value.value), value.slice
            numbers = range(ends.lower.value if ends.lower else 0, ends.upper.value)
            return [f"{n} = {array}[{i}]" for n, i in zip(names, numbers, strict=True)]
        lines, stored = [], set()
        for name, each in zip(names, value.elts, strict=True):
            if stored & {part.id for part in ast.walk(each) if isinstance(part, ast.Name)}:
                raise self._source.wrong(node, "reads what it has assigned")
            stored.add(name)
            lines += self._set(name, each)
        return lines

    def _set(self, name: str, value: ast.expr) -> Lines:
        """Return one assignment; min(max(w, low), high) and abs(v) become conditions."""
        if _is_call(value, "abs"):
            return [*self._first(name, value), f"if {name} < 0:", f"{_INDENT}{name} = 0 - {name}"]
        if not _is_call(value, "min") and not _is_call(value, "max"):
            return [f"{name} = {self._value(value)}"]
        compare, reverse = _CLAMPS[value.func.id]
        one, other = (self._value(arg) for arg in value.args)
        if other == name:
            return [f"if {one} {reverse} {name}:", f"{_INDENT}{name} = {one}"]
        first = self._first(name, value)
        return [*first, f"if {name} {compare} {other}:", f"{_INDENT}{name} = {other}"]

    def _first(self, name: str, call: ast.Call) -> Lines:
        """Return the assignment of an argument to a name; nothing if it already has that name."""
        inner = call.args[0]
        return [] if self._value(inner) == name else self._set(name, inner)

    def _helper(self, node: ast.expr) -> Helper | None:
        return self._helpers.get(ast.unparse(node.func)) if isinstance(node, ast.Call) else None

    def _call(
        self, call: ast.Call, targets: list[ast.expr], inner: Callable[[], Lines] | None = None
    ) -> Lines:
        """Return the code of a helper with its arguments, and with the targets as its results."""
        helper = self._helper(call)
        if len(call.args) != len(helper.params) or call.keywords:
            raise self._source.wrong(call, f"{helper.name} takes {', '.join(helper.params)}")
        if len(targets) != len(helper.results):
            what = f"{helper.name} gives {', '.join(helper.results) or 'nothing'}"
            raise self._source.wrong(call, what)
        if helper.is_generator != bool(inner):
            what = "yields: it belongs into a for" if helper.is_generator else "does not yield"
            raise self._source.wrong(call, f"{helper.name} {what}")
        check_helper(helper, keeps_names=self._is_all(call))
        results = [self._text(target) for target in targets]
        if len(set(results)) < len(results):
            raise self._source.wrong(call, "two results have one name")
        texts = [self._value(arg) for arg in call.args]
        for i, arg in enumerate(call.args):
            if isinstance(arg, _OPERATIONS) and not texts[i].isdecimal():
                texts[i] = f"({texts[i]})"
        arguments = dict(zip(helper.params, texts, strict=True))
        names = dict(zip(helper.results, results, strict=True))
        check_call(self._source, call, helper, arguments, names)
        code = Code(helper.source, self._viper, arguments | names, inner=inner)
        return code.block(helper.body, helper.body[0].lineno - 1)

    def _is_all(self, call: ast.Call) -> bool:
        """Return True if a function consists of nothing but this call."""
        for function in self._source.tree.body:
            if isinstance(function, ast.FunctionDef) and not is_helper(function):
                n_before = 1 if ast.get_docstring(function) is not None else 0
                last = function.body[-1]
                if len(function.body) == n_before + 1 and getattr(last, "value", None) is call:
                    return True
        return False

    def _value(self, node: ast.expr) -> str:
        """Return the text of an expression that may stand anywhere in a line."""
        text = self._text(node)
        return f"({text})" if "\n" in text else text

    def _text(self, node: ast.expr | ast.stmt) -> str:
        first, end = self._source.span(node)
        text, at = "", first
        for (start, stop), new in sorted(self._replaced(node)):
            text += self._source.text[at:start] + new
            at = stop
        return text + self._source.text[at:end]

    def _replaced(self, node: ast.AST) -> Iterator[tuple[tuple[int, int], str]]:
        """Yield the parts of a node's text that are replaced, each as (span, new text)."""
        value = self._counted(node) if isinstance(node, ast.expr) else None
        if value is not None:
            yield self._source.span(node), str(value)
        elif isinstance(node, ast.Name) and node.id in self._names:
            yield self._source.span(node), self._names[node.id]
        elif isinstance(node, ast.expr) and self._helper(node):
            raise self._source.wrong(
                node, "a helper's call is a statement, or all that is assigned"
            )
        else:
            for child in ast.iter_child_nodes(node):
                yield from self._replaced(child)

    def _counted(self, node: ast.expr) -> int | None:
        """Return the value of an expression of counters and numbers, else None."""
        if not self._counters:
            return None
        parts = list(ast.walk(node))
        used = {part.id for part in parts if isinstance(part, ast.Name)}
        if not used & self._counters.keys():
            return None
        known = {n: int(v) for n, v in self._names.items() if v.isdecimal()} | self._counters
        if used - known.keys() or any(isinstance(part, ast.Subscript) for part in parts):
            return None
        return eval(ast.unparse(node), known)


def _head(node: ast.stmt) -> ast.stmt | ast.expr:
    """Return the first lines of a statement with a body, or the whole statement."""
    if isinstance(node, ast.If | ast.While):
        return node.test
    return node.iter if isinstance(node, ast.For) else node


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple) else [target]


def _is_call(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == name


def _far(ends: str) -> Lines:
    """Return the head of a loop without a conditional branch around it: Xtensa's reach 2 KB."""
    return ["while True:", f"{_INDENT}if {ends}:", f"{_INDENT * 2}break"]


def _indented(lines: Lines) -> Lines:
    return [_INDENT + line for line in lines]
