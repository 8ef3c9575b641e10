"""Parse what loops declare in their docstrings to read and write, and evaluate it for a call.

    for access in loops("qdot")["qdots8"].accesses(p):
        assert 0 <= access.low and access.high * access.nbytes <= nbytes[access.argument]

A declaration is the last section of a function's docstring. Each line is one of

    n = rows * columns                  names for the lines below
    reads x[x_start : x_start + n]      elements from x_start on; likewise writes, updates
    reads w[7 * i : 7 * i + 2] for i in range(n)
    reads x as float32[0 : n]           if the function has no types: elements of 4 bytes
    reads w.flat[0 : n]                 of a part of an argument; also w[1][0 : n]
    requires row < rows                 else the declaration does not apply to a call
    given 0 <= w[0 : n] < rows          what the loop trusts in: values of the elements,
    given magnitude(x[0 : n]) < 1 << 30 bits of floats without their sign,
    given low <= high                   a relation of parameters that no bound depends on;
    given check has accepted w          anything else, in words
    as copy8                            declaration of copy8 of this module; add.add32: of another

and continues in lines that are indented further. Expressions are Python's, of integers, with min,
max, sum, range and len, the number of elements in a buffer or in a part of one, and apart((n,
stride), ...), which is true if no two elements of an array with these axes coincide. They name the
loop's parameters as the file declares them (see tools.loops.parameters); those with BIAS are
signed numbers here, without it. BIAS is 2**29. No declaration applies to a call with a parameter
beyond its declared range.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from mpconnxr.parameters import BIAS

from . import store
from .loops.parameters import LOOPS, Parameter, declared
from .loops.source import is_helper
from .made import shown

ABI = ("x", "w", "out", "p")
# Declarations of a driver, and of a rare loop, which computes a few rows instead of it.
OTHERS = ("of the loops it calls", "of the loops in whose place it is called")

_HEAD = re.compile("^Access:", re.MULTILINE)
_TRUSTED = ("given", "values", "relation")
_ANY = -1 << 31, (1 << 32) - 1  # range of an element
_KINDS = {"reads": ("reads",), "writes": ("writes",), "updates": ("reads", "writes")}
_RANGE = re.compile(r"(\w+)((?:\.\w+|\[\d+\])*)(?: as (\w+))?(\[.*)", re.DOTALL)
_NAMES = re.compile(r"(\w+(?:, \w+)*) = (.*)", re.DOTALL)
_POINTERS = {"ptr8": 1, "ptr16": 2, "ptr32": 4}
_TYPES = {"uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "int32": 4, "float32": 4}
_WORDS = re.compile(r"[^<>=]+")  # of `given`: text that is not an expression

_NODES = (
    *(ast.Expression, ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Load, ast.Store),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Call),
    *(ast.Subscript, ast.Slice, ast.ListComp, ast.GeneratorExp, ast.comprehension),
    *(ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.USub, ast.Not, ast.And, ast.Or, ast.cmpop),
)


class AccessError(Exception):
    """A declaration that cannot be parsed, or does not apply to a call. The text is the reason."""


def _apart(*axes: tuple[int, int]) -> bool:
    """Return True if no two elements of an array with (elements, stride) per axis coincide."""
    end = 1
    for n, stride in sorted(axes, key=lambda axis: axis[1]):
        if n > 1 and stride < end:
            return False
        end += (n - 1) * stride if n > 1 else 0
    return True


_KNOWN = {"min": min, "max": max, "sum": sum, "range": range, "apart": _apart}


class Access(NamedTuple):
    """Elements of an argument that a call may read or write, from low to high - 1.

    Attributes:
        argument: `x`, `w.flat`, `w[1]`.
        kind: reads or writes.
        nbytes: bytes of an element, or None for the buffer's own elements.
        low: first element.
        high: one past the last element.
    """

    argument: str
    kind: str
    nbytes: int | None
    low: int
    high: int


class Values(NamedTuple):
    """Limits of the elements low to high - 1 of an argument, which a loop relies on.

    Attributes:
        argument: `x`, `w.flat`, `w[1]`.
        low: first element.
        high: one past the last element.
        least: least value of an element.
        greatest: greatest value of an element.
        is_magnitude: True if the limits are those of a float's bits without the sign.
    """

    argument: str
    low: int
    high: int
    least: int
    greatest: int
    is_magnitude: bool


class Loop:
    """A function of a family and its declaration."""

    def __init__(self, path: Path, node: ast.FunctionDef, constants: Mapping[str, int]):
        self.path, self.name = path, node.name
        self.args = [arg.arg for arg in node.args.args]
        self._constants = constants
        self._nbytes = {arg.arg: _nbytes(arg) for arg in node.args.args}
        self.block = declared(path).get(node.name, ())
        self._n_p = sum(parameter.count or 0 for parameter in self.block)
        self._lines = [self._line(text) for text in _section(ast.get_docstring(node) or "")]
        if self.of_others and len(self._lines) > 1:
            raise self._wrong("a loop that calls others declares nothing else")

    @property
    def is_declared(self) -> bool:
        """True if the loop declares its accesses."""
        return bool(self._lines)

    @property
    def of_others(self) -> bool:
        """True if the declaration refers to the loops that it calls or replaces."""
        return any(line.kind in OTHERS for line in self._lines)

    def has_floats(self, argument: str) -> bool:
        """Return True if the declaration says that the elements of an argument are float32."""
        return any(line.argument == argument and line.is_float for line in self._all_lines())

    @cached_property
    def trusted_lines(self) -> list[str]:
        """Lines of the declaration that the loop trusts in, as text."""
        return [line.text for line in self._all_lines() if line.kind in _TRUSTED]

    def accesses(
        self, p: Sequence[int], lengths: Mapping[str, int] | None = None, **arguments: int
    ) -> list[Access]:
        """Return the elements that a call with these parameters may access, without empty ranges.

        Args:
            p: block of parameters.
            lengths: elements of the buffers by argument (`w`, `w[1]`), for len() in declarations.
            **arguments: number arguments of the function besides p.

        Raises:
            AccessError: if the parameters do not meet the loop's requirements.
        """
        accesses = [Access("p", "reads", 4, 0, self._n_p)]
        accesses += self._evaluate((*_KINDS, "requires"), p, lengths or {}, arguments)
        return [access for access in accesses if access.low < access.high]

    def solve(self, p: list[int]) -> None:
        """Set the parameters in p that the declaration equates with an expression."""
        places = {parameter.name: parameter for parameter in self.block if not parameter.is_list}
        for name, code in [each for line in self._all_lines() for each in line.equations]:
            if place := places.get(name):
                values = {parameter.name: self._word(parameter, p) for parameter in self.block}
                with contextlib.suppress(ArithmeticError, LookupError, NameError, ValueError):
                    bias = BIAS if place.is_biased else 0
                    value = eval(code, {**_KNOWN, **self._constants, "__builtins__": {}, **values})
                    p[place.position] = value + bias

    def trusted(
        self, p: Sequence[int], lengths: Mapping[str, int] | None = None, **arguments: int
    ) -> list[Values]:
        """Return the limits of elements that the loop relies on in a call with this block."""
        return list(self._evaluate(_TRUSTED, p, lengths or {}, arguments))

    def _evaluate(
        self,
        kinds: Collection[str],
        p: Sequence[int],
        lengths: Mapping[str, int],
        arguments: Mapping[str, int],
    ) -> Iterator[Any]:
        """Yield the results of declared lines for a call.

        Args:
            kinds: kinds of the lines.
            p: block of parameters.
            lengths: elements of the buffers by argument.
            arguments: number arguments of the function besides p.
        """
        names = {**_KNOWN, **self._constants, **arguments, "p": _Parameters(p)}
        names |= {"len": _length(lengths), "__builtins__": {}}
        names |= {arg: _Argument(arg) for arg in self.args if arg not in names}
        if len(p) < self._n_p:
            raise self._wrong(f"a block of {len(p)} words, not {self._n_p}")
        names |= {parameter.name: self._value(parameter, p) for parameter in self.block}
        for line in self._all_lines():
            if line.kind == "names" or line.kind in kinds:
                try:
                    yield from self._of_line(line, names)
                except (ArithmeticError, LookupError, NameError, TypeError, ValueError) as e:
                    raise self._wrong(f"{line.text}: {e}") from e

    def _of_line(self, line: _Line, names: dict[str, Any]) -> Iterator[Access | Values]:
        if line.kind in ("requires", "relation"):
            if not eval(line.code, names):
                raise self._wrong(f"requires {line.text}")
        elif line.kind == "values":
            for low, high, least, greatest in eval(line.code, names):
                yield Values(line.argument, low, high, least, greatest, line.is_magnitude)
        elif line.kind == "names":
            value = eval(line.code, names)
            values = value if len(line.targets) > 1 else [value]
            names |= zip(line.targets, values, strict=True)
        elif line.kind in _KINDS:
            nbytes = line.nbytes if line.has_type else self._nbytes[line.argument]
            for low, high in eval(line.code, names):
                for kind in _KINDS[line.kind]:
                    yield Access(line.argument, kind, nbytes, low, high)

    def _all_lines(self, above: tuple[tuple[Path, str], ...] = ()) -> Iterator[_Line]:
        """Yield the lines of the declaration; the lines of another loop replace `as`.

        above: (file, loop) of the loops that refer to this one.
        """
        me = (self.path, self.name)
        if me in above:
            raise self._wrong("declares what it declares itself")
        for line in self._lines:
            if line.kind == "as":
                family, _, name = line.text.rpartition(".")
                known = read(self.path.with_stem(family) if family else self.path)
                if name not in known:
                    raise self._wrong(f"as {line.text}: there is none")
                yield from known[name]._all_lines((*above, me))
            else:
                yield line

    def _line(self, text: str) -> _Line:
        if text in OTHERS:
            return _Line(text, text)
        kind, _, rest = text.partition(" ")
        if kind == "given" and _WORDS.fullmatch(rest) and "apart(" not in rest:
            return _Line(kind, rest)
        if kind == "as" and re.fullmatch(r"(\w+\.)?\w+", rest):
            return _Line(kind, rest)
        try:
            if kind == "given":
                return self._trust(rest)
            if kind == "requires":
                return self._relation(kind, ast.parse(rest, mode="eval"), rest)
            if kind in _KINDS:
                return self._range(kind, rest)
            if match := _NAMES.fullmatch(text):
                code = _compiled(ast.parse(match[2], mode="eval"))
                return _Line("names", text, targets=tuple(match[1].split(", ")), code=code)
        except (SyntaxError, ValueError) as e:
            raise self._wrong(f"{text}: {e}") from e
        raise self._wrong(f"{text}: neither an access nor a name")

    def _trust(self, text: str) -> _Line:
        """Parse a line `given`: limits of elements, or a relation of parameters."""
        argument, is_magnitude, tree = _limits(text)
        if not argument:
            return self._relation("relation", tree, text)
        if argument not in self.args:
            raise ValueError(f"{argument} is not an argument")
        code = _compiled(tree)
        return _Line("values", text, argument, code=code, is_magnitude=is_magnitude)

    def _relation(self, kind: str, tree: ast.Expression, text: str) -> _Line:
        """Parse a condition on parameters."""
        equations = tuple(
            (term.left.id, _compiled(ast.Expression(term.comparators[0])))
            for term in (tree.body.values if isinstance(tree.body, ast.BoolOp) else [tree.body])
            if isinstance(term, ast.Compare)
            and isinstance(term.left, ast.Name)
            and isinstance(term.ops[0], ast.Eq)
            and not isinstance(getattr(tree.body, "op", None), ast.Or)
        )
        return _Line(kind, text, code=_compiled(tree), equations=equations)

    def _range(self, kind: str, text: str) -> _Line:
        match = _RANGE.fullmatch(text)
        if not match:
            raise ValueError("no buffer[low : high]")
        argument, part, typename, bounds = match.groups()
        if argument not in self.args:
            raise ValueError(f"{argument} is not an argument")
        if typename and typename not in _TYPES:
            raise ValueError(f"{typename} is none of {', '.join(_TYPES)}")
        nbytes = _TYPES[typename] if typename else None
        has_type = bool(typename or part)
        code = _compiled(_pairs(bounds))
        line = _Line(kind, f"{kind} {text}", argument + part, nbytes, has_type, (), code)
        return line._replace(is_float=typename == "float32")

    def _word(self, parameter: Parameter, p: Sequence[int]) -> int | list[int]:
        """Return a parameter's value in a block: a signed number, or a list of them."""
        values = parameter.numbers(p)
        return values if parameter.is_list else values[0]

    def _value(self, parameter: Parameter, p: Sequence[int]) -> int | list[int]:
        """Return a parameter's value in a block.

        Raises:
            AccessError: if a number is beyond its range.
        """
        values = parameter.numbers(p)
        # A value known only at run time is an object of the recorder, which raises when used.
        known = [value for value in values if isinstance(value, int)]
        if beyond := [value for value in known if not parameter.may_be(value)]:
            raise self._wrong(f"{parameter.name} = {beyond[0]} is beyond its range")
        return values if parameter.is_list else values[0]

    def _wrong(self, what: str) -> AccessError:
        return AccessError(f"{shown(self.path)}: {self.name}: {what}")


class _Line(NamedTuple):
    """A compiled line of a declaration."""

    kind: str
    text: str
    argument: str = ""
    nbytes: int | None = None
    has_type: bool = False
    targets: tuple[str, ...] = ()
    code: CodeType = compile("()", "declaration", "eval")
    is_magnitude: bool = False
    is_float: bool = False
    equations: tuple[tuple[str, CodeType], ...] = ()


class _Parameters:
    """The block p, in which an index outside of the block, also a negative one, is an error."""

    def __init__(self, words: Sequence[int]):
        self._words = words

    def __getitem__(self, i: int | slice) -> int | list[int]:
        if not isinstance(i, slice):
            return self._words[self._checked(i)]
        if i.start < i.stop:
            self._checked(i.start)
            self._checked(i.stop - 1)
        return list(self._words[i])

    def _checked(self, i: int) -> int:
        if not 0 <= i < len(self._words):
            raise IndexError(f"p[{i}] of {len(self._words)}")
        return i


class _Argument(str):
    """The name of an argument or of its element, which len() takes in a declaration."""

    def __getitem__(self, i: object) -> _Argument:
        return _Argument(f"{self}[{i}]")


def families() -> list[str]:
    """Return all families that have a plain form, whose modules have the declarations."""
    all_loops = store.loops()
    return [family for family in all_loops.families() if "plain" in all_loops.modules(family)]


def loops(family: str) -> dict[str, Loop]:
    """Return the functions of a family that kernels call, by name.

    Raises:
        AccessError: if a declaration cannot be parsed.
    """
    return read(LOOPS / f"{family}.py")


@cache
def read(path: Path) -> dict[str, Loop]:
    """Return the functions of any module that have the arguments of a loop, or a declaration."""
    tree = _tree(path)
    constants = {"BIAS": BIAS}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            value = _constant(node.value)
            if value is not None:
                constants[node.targets[0].id] = value
    nodes = [n for n in tree.body if isinstance(n, ast.FunctionDef) and not is_helper(n)]
    functions = [Loop(path, node, constants) for node in nodes]
    return {f.name: f for f in functions if f.is_declared or tuple(f.args) == ABI}


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def _constant(node: ast.expr) -> int | None:
    """Return the value of a constant integer expression, such as 1 << 29; None for others."""
    try:
        value = eval(_compiled(ast.Expression(node)), {"__builtins__": {}})
    except (ValueError, NameError):
        return None
    return value if type(value) is int else None


def _nbytes(arg: ast.arg) -> int | None:
    if arg.arg == "p":
        return 4
    return _POINTERS.get(arg.annotation.id) if isinstance(arg.annotation, ast.Name) else None


def _section(doc: str) -> list[str]:
    """Return the lines of the declaration, each joined with its continuation lines."""
    head = _HEAD.search(doc)
    if not head:
        return []
    first, *rest = doc[head.end() :].split("\n")
    lines = [first.strip()] if first.strip() else []
    written = [line for line in rest if line.strip()]
    for line in written:
        if lines and line.startswith(f"{_indent(written[0])} "):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line.strip())
    return lines


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _pairs(bounds: str) -> ast.Expression:
    """Parse `[low : high]`, also with `for` or `if` after it, to an expression of the pairs."""
    try:
        node = ast.parse(f"[_{bounds}]", mode="eval").body
    except SyntaxError:
        node = ast.parse(f"_{bounds} else ()", mode="eval").body
    if isinstance(node, ast.List) and len(node.elts) == 1:
        node.elts = [_pair(node.elts[0])]
    elif isinstance(node, ast.ListComp):
        node.elt = _pair(node.elt)
    elif isinstance(node, ast.IfExp):
        node.body = ast.List([_pair(node.body)], ast.Load())
    else:
        raise ValueError("no [low : high]")
    return ast.fix_missing_locations(ast.Expression(node))


def _pair(node: ast.expr) -> ast.Tuple:
    """Return the expression (low, high) of a slice."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        cut = node.slice
        if isinstance(node.value, ast.Name) and cut.lower and cut.upper and not cut.step:
            return ast.Tuple([cut.lower, cut.upper], ast.Load())
    raise ValueError("no [low : high]")


def _limits(text: str) -> tuple[str, bool, ast.Expression]:
    """Parse `0 <= x[low : high] < n`, also with `for` or `if` after it.

    Returns:
        (argument, True for a magnitude, an expression for the fields of Values); ("", False, the
        unchanged expression) if there is no x[low : high].
    """
    try:
        node = ast.parse(f"[{text}]", mode="eval").body
    except SyntaxError:
        node = ast.parse(f"[{text} else 0]", mode="eval").body
    condition = None
    body = node.elts[0] if isinstance(node, ast.List) else node.elt
    if isinstance(body, ast.IfExp):
        body, condition = body.body, body.test
    terms = [body.left, *body.comparators] if isinstance(body, ast.Compare) else []
    at = [i for i, term in enumerate(terms) if _elements_of(term)]
    if not at:
        return "", False, ast.parse(text, mode="eval")
    name, low, high, is_magnitude = _elements_of(terms[at[0]])
    least, greatest = [ast.Constant(abs(limit)) for limit in _ANY]
    least = ast.Constant(0) if is_magnitude else ast.UnaryOp(ast.USub(), least)
    for i, operator in enumerate(body.ops):
        if not isinstance(operator, ast.Lt | ast.LtE | ast.Eq):
            raise ValueError("limits are <, <= or ==")
        step = ast.Constant(int(isinstance(operator, ast.Lt)))
        if i == at[0] - 1 or isinstance(operator, ast.Eq):
            least = ast.BinOp(terms[i + 1 if at[0] == i else i], ast.Add(), step)
        if i == at[0] or isinstance(operator, ast.Eq):
            greatest = ast.BinOp(terms[i + 1 if at[0] == i else i], ast.Sub(), step)
    body = ast.Tuple([low, high, least, greatest], ast.Load())
    if isinstance(node, ast.ListComp):
        node.elt = body
    else:
        node.elts = [body]
        if condition:
            node = ast.IfExp(condition, node, ast.List([], ast.Load()))
    return name, is_magnitude, ast.fix_missing_locations(ast.Expression(node))


def _elements_of(node: ast.expr) -> tuple[str, ast.expr, ast.expr, bool] | None:
    """Return (x, low, high, False) for `x[low : high]`, True for `magnitude(x[low : high])`."""
    is_magnitude = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "magnitude"
    if is_magnitude:
        [node] = node.args
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        low, high = _pair(node).elts
        return node.value.id, low, high, is_magnitude
    return None


def _compiled(tree: ast.Expression) -> CodeType:
    """Compile an expression that can only compute integers."""
    for node in ast.walk(tree):
        what = type(node).__name__
        if not isinstance(node, _NODES):
            raise ValueError(f"{what} is not for declarations")
        if isinstance(node, ast.Constant) and type(node.value) is not int:
            raise ValueError(f"{node.value!r} is not a whole number")
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else what
            if name not in {*_KNOWN, "len"} or node.keywords:
                raise ValueError(f"{name}() is not for declarations")
    return compile(tree, "declaration", "eval")


def _length(lengths: Mapping[str, int]) -> Callable[[str], int]:
    def length(argument: str) -> int:
        if argument not in lengths:
            raise LookupError(f"the elements of {argument} are not known")
        return lengths[argument]

    return length
