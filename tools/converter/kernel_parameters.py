"""Read the names of a kernel's parameters, which mpconnxr/ops/KERNEL.py declares at its top:

    # params
    _N = const(0)  # samples
    _STRIDES = const(1)  # [y, x]
    _RANK = const(3)
    _DIMS = const(4)  # [rank] of x
    # then steps: [rank] signed

1. A line a parameter, in order: its name as a constant, which costs nothing on a board, or after
   `then` where its position is not always the same one.
2. In brackets are the names of the numbers of a group, or how many there are: a number, a product
   or sum with parameters before it, `?` (one or none), `*` (any number; only the last one), or
   another module of mpconnxr/ops, whose parameters they are.
3. The next word may be a kind (see KINDS); what follows is prose, on more lines if they are
   indented.
4. `_N_PARAMS = const(7)` may stand last. `# params, or none` allows a step without any.
   `# params: none` and `# params: as MODULE` stand alone.

A number of a group is `strides.y`, or `dims.0` where it has no name.
"""

from __future__ import annotations

import ast
import io
import math
import struct
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from tools import package

# What a number is; others are extents: counts, sizes, strides, numbers of operations, from 0 to
# BIAS - 1.
KINDS = {
    "signed": "less than BIAS from 0",
    "flag": "0 or 1",
    "float": "the bits of a float32",
    "dim": "the number of a run-time dim",
    "any": "all 32 bits",
}
_EXTENT = "extent"
_HEADING = "# params"
# Other arguments of Node.emit.
_RESERVED = (
    *("self", "kernel", "inputs", "outputs", "params", "scratch", "macs", "bodies", "trips"),
    *("in_place", "over", "behind", "rows", "grow"),
)


class ParameterError(Exception):
    """The code names a kernel's parameters other than the kernel does."""


class DeclarationError(ValueError):
    """A kernel's declaration is not as the docstring above says."""


@dataclass(frozen=True)
class Field:
    """A parameter, or a group. count: "" for one number; parts: those of a group, by name."""

    name: str
    kind: str = _EXTENT
    count: str = ""
    parts: tuple[Field, ...] = ()
    about: str = ""

    @property
    def is_group(self) -> bool:
        """Whether it stands for several numbers."""
        return bool(self.count or self.parts)


@dataclass(frozen=True)
class Place:
    """Where a parameter or group is in a step's list. field: what it belongs to."""

    path: str
    field: Field
    at: int
    n: int

    @property
    def end(self) -> int:
        """The position behind it."""
        return self.at + self.n


@dataclass(frozen=True)
class Declaration:
    """A kernel's parameters, in order. or_none: a step may have none of them."""

    kernel: str
    fields: tuple[Field, ...] = ()
    or_none: bool = False

    def places(self, params: Sequence[int]) -> dict[str, Place]:
        """Return the place of each parameter, group and number of a group by name.

        Raises:
            ValueError: if there are more or fewer parameters than declared.

        """
        if self.or_none and not len(params):
            return {}
        if self.length is None:
            return self._laid(params)
        if len(params) != self.length:
            raise ValueError(f"kernel {self.kernel}: {len(params)} parameters, not {self.length}")
        return self._fixed

    @cached_property
    def length(self) -> int | None:
        """How many parameters there are; None where that differs."""
        n = sum(map(_fixed_length, self.fields))
        return None if math.isnan(n) else int(n)

    @cached_property
    def _fixed(self) -> dict[str, Place]:
        return self._laid([0] * (self.length or 0))

    def _laid(self, params):
        found: dict[str, Place] = {}
        at = _lay(self.fields, params, 0, "", found)
        if at != len(params):
            raise ValueError(f"kernel {self.kernel}: {len(params)} parameters, not {at}")
        return found

    def place(self, params: Sequence[int], name: str) -> Place:
        """Return the place of the parameter of a name.

        Raises:
            ParameterError: if the kernel has none of this name.

        """
        try:
            return self.places(params)[name]
        except KeyError:
            raise ParameterError(f"kernel {self.kernel} has no parameter {name}") from None

    def singles(self, params: Sequence[int]) -> list[Place]:
        """Return a place for each number, in order."""
        found = self.places(params).values()
        return [place for place in found if not place.field.is_group]

    def listed(self, values: Mapping[str, Any]) -> list[int]:
        """Return a step's list of parameters.

        Args:
            values: by name. That of a group is a sequence, or has the names of its numbers.

        Raises:
            ParameterError: for names that are missing or unknown.
            ValueError: for a group with more or fewer numbers than declared.

        """
        if self.or_none and not values:
            return []
        values = {name: _plain(value) for name, value in values.items()}
        params = _listed(self.kernel, self.fields, values)
        places = self.places(params)
        at = 0
        for f in self.fields:
            n = _length(f, values[f.name])
            if places[f.name].at != at or places[f.name].n != n:
                raise ValueError(f"kernel {self.kernel}: {n} numbers of {f.name}")
            at += n
        return params

    def text(self, params: Sequence[int], shown: Callable[[int], str] | None = None) -> str:
        """Return a text such as `n=1 strides=[2, 2]`.

        Args:
            params: a step's list.
            shown: returns the text of a number by its position.

        """
        places = self.places(params)
        said = []
        for place in places.values():
            if "." in place.path and not _is_nested(place, places):
                continue
            if any(part.is_group for part in place.field.parts):
                continue  # its parts follow
            words = [shown(i) if shown else str(params[i]) for i in range(place.at, place.end)]
            if place.field.kind == "float":
                words = [_as_float(word) for word in words]
            one = f"[{', '.join(words)}]" if place.field.is_group else words[0]
            said.append(f"{place.path}={one}")
        return " ".join(said)


def _is_nested(place, places):
    """Return True for what is in a group of groups, which is not printed as one."""
    outer = places[place.path.rpartition(".")[0]]
    return any(part.is_group for part in outer.field.parts)


def _as_float(word):
    try:
        bits = struct.pack("<I", int(word) & 0xFFFFFFFF)
        return f"{struct.unpack('<f', bits)[0]:.9g}"
    except ValueError:
        return word  # an expression of run-time dims


def _lay(fields, params, at, prefix, found) -> int:
    """Add the places of fields from `at` on; return their end."""
    numbers: dict[str, int] = {}
    for f in fields:
        path = prefix + f.name
        place = found[path] = Place(path, f, at, 1)
        if f.parts:
            end = _lay(f.parts, params, at, f"{path}.", found)
        elif f.count:
            n = _count(f.count, numbers, len(params) - at)
            end = at + n
            for i in range(n):
                found[f"{path}.{i}"] = Place(f"{path}.{i}", Field(f.name, f.kind), at + i, 1)
        else:
            end = at + 1
            if at < len(params):
                numbers[f.name] = params[at]
        if end > len(params):
            raise ValueError(f"parameter {path}: {len(params)} are too few")
        found[path] = replace(place, n=end - at)
        at = end
    return at


def _count(text, numbers, left):
    if text == "*":
        return left
    if text == "?":
        return min(left, 1)
    n = int(_evaluated(ast.parse(text, mode="eval").body, numbers))
    if not 0 <= n <= left:
        raise ValueError(f"{n} parameters ({text}) where {left} are left")
    return n


def _evaluated(node, numbers):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return numbers[node.id]
    a, b = _evaluated(node.left, numbers), _evaluated(node.right, numbers)
    return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}[type(node.op)]


def _plain(value):
    """Return a list of an array or of an iterator."""
    is_group = isinstance(value, Iterable) and not isinstance(value, Mapping)
    return list(value) if is_group else value


def _listed(kernel, fields, values):
    unknown = [name for name in values if name not in {f.name for f in fields}]
    missing = [f.name for f in fields if f.name not in values]
    if unknown or missing:
        parts = [f"has no parameter {', '.join(unknown)}"] if unknown else []
        parts += [f"lacks {', '.join(missing)}"] if missing else []
        raise ParameterError(f"kernel {kernel} {' and '.join(parts)}")
    found: list[int] = []
    for f in fields:
        value = values[f.name]
        if isinstance(value, Mapping):
            found += _listed(kernel, f.parts, value)
        elif f.is_group != isinstance(value, Iterable):
            raise ParameterError(f"kernel {kernel}: {f.name} = {value!r}")
        else:
            found.extend(value if f.is_group else [value])
    return found


def _length(f, value):
    if isinstance(value, Mapping):
        return sum(_length(part, value[part.name]) for part in f.parts)
    return len(value) if f.is_group else 1


def listed(
    declared: Declaration | None, kernel: str, named: Mapping[str, Any], params: Iterable[int]
) -> Iterable[int]:
    """Return a step's list of parameters.

    Args:
        declared: the kernel's declaration, or None.
        kernel: its name.
        named: the parameters by name.
        params: the list of a kernel without a declaration.

    Raises:
        ParameterError: if the kernel declares other parameters.
        ValueError: for a group with more or fewer numbers than declared.

    """
    if declared is None and not named:
        return params
    if declared is None:
        raise ParameterError(f"kernel {kernel} declares no parameters")
    if list(params):
        raise ParameterError(f"kernel {kernel} takes its parameters by name")
    return declared.listed(named)


# ---- reading a declaration


@cache
def declaration_of(kernel: str, folder: Path = package.KERNELS) -> Declaration | None:
    """Return the declaration of a kernel, or of a helper of kernels; None if it has none.

    Args:
        kernel: its name.
        folder: where its file lies.

    Raises:
        DeclarationError: if its declaration breaks the rules of this module.

    """
    path = folder / f"{kernel}.py"
    if not kernel.isidentifier() or not path.is_file():
        return None
    try:
        return _read(kernel, path.read_text(), folder)
    except (ValueError, SyntaxError) as e:
        raise DeclarationError(f"{path}: {e}") from e


def _read(kernel, text, folder):
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    }
    lines = text.splitlines()
    headings = [n for n, said in comments.items() if said.split(":")[0].startswith(_HEADING)]
    headings = [n for n in headings if lines[n - 1].startswith(_HEADING)]
    if not headings:
        return None
    if len(headings) > 1:
        raise DeclarationError("two declarations of parameters")
    heading = comments[headings[0]].removeprefix(_HEADING)
    if heading == ": none":
        return Declaration(kernel)
    if heading.startswith(": as "):
        return replace(_of_other(heading.removeprefix(": as "), folder), kernel=kernel)
    if heading not in ("", ", or none"):
        raise DeclarationError(f"heading {_HEADING}{heading}")
    constants = dict(_constants(ast.parse(text)))
    fields = _fields(_block(headings[0] + 1, constants, comments), folder)
    return Declaration(kernel, tuple(fields), heading != "")


def _of_other(name, folder):
    found = declaration_of(name, folder) or declaration_of(name)
    if found is None:
        raise DeclarationError(f"module {name} declares no parameters")
    return found


def _constants(tree) -> Iterator[tuple[int, tuple[str, int]]]:
    """Return (line, (name, number)) of each `_NAME = const(number)`."""
    for node in tree.body:
        match node:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="const"), args=[ast.Constant(value=int(number))]),
            ):
                yield node.lineno, (name, number)
            case _:
                pass


def _block(line, constants, comments) -> Iterator[tuple[str, int | None, str]]:
    """Return (name, position or None, comment) of each line of the declaration."""
    entries: list[list[Any]] = []
    while line in constants or line in comments:
        said = comments.get(line, "")
        if line in constants:
            name, number = constants[line]
            if not name.startswith("_"):
                raise DeclarationError(f"{name} takes memory: it starts with no underscore")
            entries.append([name[1:].lower(), number, said.removeprefix("#").strip()])
        elif said.startswith("# then "):
            name, colon, about = said.removeprefix("# then ").partition(":")
            entries.append([name, None, about.strip()])
        elif said.startswith("#  ") and entries:
            entries[-1][2] += f" {said.removeprefix('#').strip()}"
        else:
            raise DeclarationError(f"line {line}: {said}")
        line += 1
    return map(tuple, entries)


def _fields(entries, folder):
    found: list[Field] = []
    at: float = 0  # nan behind the first one of no fixed length
    for name, position, said in entries:
        if position is not None and position != at:
            raise DeclarationError(f"{name} has position {at}, not {position}")
        if name == "n_params":
            at = math.nan
            continue
        if name in [f.name for f in found] or name in _RESERVED or not name.isidentifier():
            raise DeclarationError(f"name {name}")
        if found and found[-1].count in ("*", "?"):
            raise DeclarationError(f"{name} is behind the last one")
        found.append(_field(name, said, [f.name for f in found if not f.is_group], folder))
        at += _fixed_length(found[-1])
    return found


def _field(name, said, before, folder):
    inside, rest = "", said
    if said.startswith("["):
        inside, _, rest = said[1:].partition("]")
    kind, rest = _EXTENT, rest.strip()
    word = rest.split(" ")[0].rstrip(":,")
    if word in KINDS:
        kind, rest = word, rest[len(word) :].lstrip(":, ")
    if "," in inside:
        parts = tuple(Field(part.strip(), kind) for part in inside.split(","))
        return Field(name, kind, "", parts, rest)
    if not inside or inside in "*?":
        return Field(name, kind, inside, (), rest)
    names = {n.id for n in ast.walk(ast.parse(inside)) if isinstance(n, ast.Name)}
    if inside.isidentifier() and inside not in before:
        return Field(name, kind, "", _of_other(inside, folder).fields, rest)
    if names - set(before):
        raise DeclarationError(f"{name}: {inside} is not known before")
    return Field(name, kind, inside, (), rest)


def _fixed_length(f) -> float:
    if f.parts:
        return sum(map(_fixed_length, f.parts))
    if not f.count:
        return 1
    return int(f.count) if f.count.isdigit() else math.nan
