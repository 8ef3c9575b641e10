"""Names of the parameters of kernels: read each kernel's declaration, and build lists from names.

Node.emit and Step use it to turn parameters by name into a step's list of integers. Every module
mpconnxr/ops/KERNEL.py declares its parameters once, at its top:

    # params
    _N = const(0)  # samples
    _STRIDES = const(1)  # [y, x]
    _RANK = const(3)
    _DIMS = const(4)  # [rank] of x
    # then steps: [rank] signed

1. Each line declares one parameter, in order. It is a constant, which costs nothing on a board, or
   starts with `then` if its index depends on the length of a group before it.
2. Brackets declare a group. They hold the names of its numbers, or how many there are: a number, a
   product or sum of earlier parameters, `?` (none or one), `*` (any number; only in the last
   line), or another module of mpconnxr/ops whose parameters form the group.
3. The next word may be a kind (see KINDS). The rest is prose, which indented lines continue.
4. `_N_PARAMS = const(7)` may stand last. `# params, or none` allows a step without parameters.
   `# params: none` and `# params: as MODULE` stand alone.

A number of a group is called `strides.y`, or `dims.0` if it has no name.
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

# Kinds of parameters. One without a kind is an extent: a count, size, stride or number of an
# operation, from 0 to BIAS - 1.
KINDS = {
    "signed": "less than BIAS from 0",
    "flag": "0 or 1",
    "float": "the bits of a float32",
    "dim": "the number of a run-time dim",
    "any": "all 32 bits",
}
_EXTENT = "extent"
_HEADING = "# params"
# Arguments of Node.emit and attributes of Step, which no parameter may be called.
_RESERVED = (
    *("self", "kernel", "inputs", "outputs", "params", "scratch", "macs", "bodies", "trips"),
    *("in_place", "over", "behind", "rows", "grow"),
)


class ParameterError(Exception):
    """A caller's parameters do not match the parameters that the kernel declares."""


class DeclarationError(ValueError):
    """A kernel declares its parameters otherwise than the module docstring describes."""


@dataclass(frozen=True)
class Field:
    """A declared parameter, or a group of parameters.

    Attributes:
        kind: a key of KINDS, or "extent".
        count: the length of a group, as declared; "" for a single number or a group with `parts`.
        parts: the named members of a group.
        about: the prose of the declaration.
    """

    name: str
    kind: str = _EXTENT
    count: str = ""
    parts: tuple[Field, ...] = ()
    about: str = ""

    @property
    def is_group(self) -> bool:
        """Return True if the field stands for several numbers."""
        return bool(self.count or self.parts)


@dataclass(frozen=True)
class Place:
    """The position of a parameter in a step's list of parameters.

    It may also be that of a group of parameters, or of one number of a group.

    Attributes:
        path: its name, preceded by its group's: `strides.y`.
        field: the field that declares it.
        at: index of its first number.
        n: number of its numbers.
    """

    path: str
    field: Field
    at: int
    n: int

    @property
    def end(self) -> int:
        """Return the index behind its last number."""
        return self.at + self.n


@dataclass(frozen=True)
class Declaration:
    """The parameters of a kernel, in order.

    Attributes:
        or_none: a step may have no parameters at all.
    """

    kernel: str
    fields: tuple[Field, ...] = ()
    or_none: bool = False

    def places(self, params: Sequence[int]) -> dict[str, Place]:
        """Return the place of each parameter, group and number of a group, by name.

        Raises:
            ValueError: if `params` is longer or shorter than the declaration and its counts
                require.
        """
        if self.or_none and not len(params):
            return {}
        if self.length is None:
            return self._lay_out(params)
        if len(params) != self.length:
            raise ValueError(f"kernel {self.kernel}: {len(params)} parameters, not {self.length}")
        return self._fixed

    @cached_property
    def length(self) -> int | None:
        """Return the number of parameters, or None if it depends on their values."""
        n = sum(map(_fixed_length, self.fields))
        return None if math.isnan(n) else int(n)

    @cached_property
    def _fixed(self) -> dict[str, Place]:
        return self._lay_out([0] * (self.length or 0))

    def _lay_out(self, params):
        places: dict[str, Place] = {}
        at = _lay(self.fields, params, 0, "", places)
        if at != len(params):
            raise ValueError(f"kernel {self.kernel}: {len(params)} parameters, not {at}")
        return places

    def place(self, params: Sequence[int], name: str) -> Place:
        """Return the place of one parameter.

        Raises:
            ParameterError: if the kernel declares no parameter of that name.
        """
        try:
            return self.places(params)[name]
        except KeyError:
            raise ParameterError(f"kernel {self.kernel} has no parameter {name}") from None

    def singles(self, params: Sequence[int]) -> list[Place]:
        """Return the places of all single numbers, in order."""
        places = self.places(params).values()
        return [place for place in places if not place.field.is_group]

    def listed(self, values: Mapping[str, Any]) -> list[int]:
        """Return a step's list of parameters for values by name.

        Args:
            values: a number for each parameter; for a group a sequence, or a mapping of its names.

        Raises:
            ParameterError: if names are missing or unknown.
            ValueError: if a group has more or fewer numbers than declared.
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
        """Format parameters as `n=1 strides=[2, 2] ...`.

        Args:
            params: the step's list.
            shown: returns the text of the number at an index; by default the number in decimal.
        """
        places = self.places(params)
        shown_fields = []
        for place in places.values():
            if "." in place.path and not _is_nested(place, places):
                continue
            if any(part.is_group for part in place.field.parts):
                continue  # its parts follow
            words = [shown(i) if shown else str(params[i]) for i in range(place.at, place.end)]
            if place.field.kind == "float":
                words = [_as_float(word) for word in words]
            value = f"[{', '.join(words)}]" if place.field.is_group else words[0]
            shown_fields.append(f"{place.path}={value}")
        return " ".join(shown_fields)


def _is_nested(place, places):
    """Return True for a member of a group of groups, which is not printed as one list."""
    outer = places[place.path.rpartition(".")[0]]
    return any(part.is_group for part in outer.field.parts)


def _as_float(word):
    try:
        bits = struct.pack("<I", int(word) & 0xFFFFFFFF)
        return f"{struct.unpack('<f', bits)[0]:.9g}"
    except ValueError:
        return word  # an expression of run-time dimensions


def _lay(fields, params, at, prefix, places) -> int:
    """Add the places of fields to `places`; return the index behind the last one.

    Args:
        fields: the fields.
        params: the list of parameters, which has the counts of varying groups.
        at: index of the first field.
        prefix: beginning of the paths.
        places: {path: Place}; changed.
    """
    numbers: dict[str, int] = {}
    for f in fields:
        path = prefix + f.name
        place = places[path] = Place(path, f, at, 1)
        if f.parts:
            end = _lay(f.parts, params, at, f"{path}.", places)
        elif f.count:
            n = _count(f.count, numbers, len(params) - at)
            end = at + n
            for i in range(n):
                places[f"{path}.{i}"] = Place(f"{path}.{i}", Field(f.name, f.kind), at + i, 1)
        else:
            end = at + 1
            if at < len(params):
                numbers[f.name] = params[at]
        if end > len(params):
            raise ValueError(f"{len(params)} parameters end before {path}")
        places[path] = replace(place, n=end - at)
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
    """Return a list for an array or iterator; return any other value unchanged."""
    is_group = isinstance(value, Iterable) and not isinstance(value, Mapping)
    return list(value) if is_group else value


def _listed(kernel, fields, values):
    unknown = [name for name in values if name not in {f.name for f in fields}]
    missing = [f.name for f in fields if f.name not in values]
    if unknown or missing:
        parts = [f"has no parameter {', '.join(unknown)}"] if unknown else []
        parts += [f"lacks {', '.join(missing)}"] if missing else []
        raise ParameterError(f"kernel {kernel} {' and '.join(parts)}")
    params: list[int] = []
    for f in fields:
        value = values[f.name]
        if isinstance(value, Mapping):
            params += _listed(kernel, f.parts, value)
        elif f.is_group != isinstance(value, Iterable):
            raise ParameterError(f"kernel {kernel}: {f.name} = {value!r}")
        else:
            params.extend(value if f.is_group else [value])
    return params


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
        kernel: its name, for messages.
        named: parameters by name, for a kernel that declares them.
        params: the list itself, for a kernel that declares none.

    Raises:
        ParameterError: if the kernel takes its parameters otherwise, or names do not match.
        ValueError: if a group has more or fewer numbers than declared.
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
    """Return the parameters that a kernel, or helper module of kernels, declares; None if none.

    Raises:
        DeclarationError: if the declaration breaks a rule of this module's docstring.
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
    headings = [n for n, text in comments.items() if text.split(":")[0].startswith(_HEADING)]
    headings = [n for n in headings if lines[n - 1].startswith(_HEADING)]
    if not headings:
        return None
    if len(headings) > 1:
        raise DeclarationError("two declarations of parameters")
    heading = comments[headings[0]].removeprefix(_HEADING)
    if heading == ": none":
        return Declaration(kernel)
    if heading.startswith(": as "):
        return replace(_parameters_of(heading.removeprefix(": as "), folder), kernel=kernel)
    if heading not in ("", ", or none"):
        raise DeclarationError(f"heading {_HEADING}{heading}")
    constants = dict(_constants(ast.parse(text)))
    fields = _fields(_block(headings[0] + 1, constants, comments), folder)
    return Declaration(kernel, tuple(fields), heading != "")


def _parameters_of(name, folder):
    declared = declaration_of(name, folder) or declaration_of(name)
    if declared is None:
        raise DeclarationError(f"module {name} declares no parameters")
    return declared


def _constants(tree) -> Iterator[tuple[int, tuple[str, int]]]:
    """Yield (line, (name, number)) for each `_NAME = const(number)`."""
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
    """Yield (name, index or None, comment) for each line of the declaration."""
    entries: list[list[Any]] = []
    while line in constants or line in comments:
        comment = comments.get(line, "")
        if line in constants:
            name, number = constants[line]
            if not name.startswith("_"):
                raise DeclarationError(
                    f"{name} needs an underscore in front: without it it takes memory"
                )
            entries.append([name[1:].lower(), number, comment.removeprefix("#").strip()])
        elif comment.startswith("# then "):
            name, colon, about = comment.removeprefix("# then ").partition(":")
            entries.append([name, None, about.strip()])
        elif comment.startswith("#  ") and entries:
            entries[-1][2] += f" {comment.removeprefix('#').strip()}"
        else:
            raise DeclarationError(f"line {line}: {comment}")
        line += 1
    return map(tuple, entries)


def _fields(entries, folder):
    fields: list[Field] = []
    at: float = 0  # nan behind the first field whose length varies
    for name, position, comment in entries:
        if position is not None and position != at:
            raise DeclarationError(f"{name} has position {at}, not {position}")
        if name == "n_params":
            at = math.nan
            continue
        if name in [f.name for f in fields] or name in _RESERVED or not name.isidentifier():
            raise DeclarationError(f"name {name} is taken, or not an identifier")
        if fields and fields[-1].count in ("*", "?"):
            raise DeclarationError(
                f"{name} follows a group of any length, which has to be the last"
            )
        fields.append(_field(name, comment, [f.name for f in fields if not f.is_group], folder))
        at += _fixed_length(fields[-1])
    return fields


def _field(name, comment, before, folder):
    inside, rest = "", comment
    if comment.startswith("["):
        inside, _, rest = comment[1:].partition("]")
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
        return Field(name, kind, "", _parameters_of(inside, folder).fields, rest)
    if names - set(before):
        raise DeclarationError(f"{name}: {inside} is not known before it")
    return Field(name, kind, inside, (), rest)


def _fixed_length(f) -> float:
    if f.parts:
        return sum(map(_fixed_length, f.parts))
    if not f.count:
        return 1
    return int(f.count) if f.count.isdigit() else math.nan
