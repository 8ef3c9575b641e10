"""What a board prints in answer to a command, as values of the type that is due.

Anything may be at the other end of a serial port: what it prints is read as Python's literals, and
their types are checked, before anything uses them.
"""

from __future__ import annotations

import ast
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from .errors import DeployError

_MOST = 1 << 53  # of a whole number: larger ones are no sizes and no addresses
_SHOWN = 60  # characters of an answer that a message repeats
_NO_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
Class = TypeVar("Class")


def parsed(printed: str, kind: Any, due: str) -> Any:
    """Return the value that a board printed.

    Args:
        printed: what it printed.
        kind: the type that is due, such as `tuple[str, int]`; an int is from 0 to 2**53.
        due: what the value is, for the message.

    Raises:
        DeployError: if it is no literal, or one of another type.

    """
    try:
        value = ast.literal_eval(printed.strip())
    except _NO_LITERAL:
        raise unexpected(printed, due) from None
    if not _is(value, kind):
        raise unexpected(printed, due)
    return value


def parsed_lines(printed: str, kind: Any, due: str, n: int | None = None) -> list:
    """Return the value on each line. n: how many are due. Raises DeployError."""
    lines = printed.splitlines()
    if n is not None and len(lines) != n:
        raise unexpected(printed, f"{n} lines with {due}")
    return [parsed(line, kind, due) for line in lines]


def parsed_fields(printed: str, dataclass: type[Class], due: str) -> Class:
    """Return an instance of a dataclass of which a board printed the fields, as a dict.

    Raises:
        DeployError: if one is lacking, unknown, or of another type than the dataclass says.

    """
    found = parsed(printed, dict, due)
    kinds = get_type_hints(dataclass)
    needed = {f.name for f in fields(dataclass) if f.default is MISSING}
    if not needed <= found.keys() <= kinds.keys():
        raise unexpected(printed, due)
    if not all(_is(value, kinds[name]) for name, value in found.items()):
        raise unexpected(printed, due)
    return dataclass(**found)


def unexpected(printed: str, due: str) -> DeployError:
    """Return the error that says what a board answers, and what was due."""
    text = printed.strip()
    shown = repr(text[:_SHOWN]) + " ..." * (len(text) > _SHOWN) if text else "nothing"
    return DeployError(f"the board answers {shown} instead of {due}: reset it, and try again")


def _is(value, kind):
    """Whether a value is of a type: of a class, or as tuple[...], list[...] or a union has it."""
    of = get_args(kind)
    if isinstance(kind, UnionType):
        return any(_is(value, each) for each in of)
    if get_origin(kind) is tuple:
        kinds = of[:1] * len(value) if of[-1] is ... and type(value) is tuple else of
        return type(value) is tuple and len(value) == len(kinds) and all(map(_is, value, kinds))
    if get_origin(kind) is list:
        return type(value) is list and all(_is(each, of[0]) for each in value)
    return type(value) is kind and (kind is not int or 0 <= value <= _MOST)
