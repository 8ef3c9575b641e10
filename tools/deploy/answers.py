"""Parse what a board prints in answer to a command.

Anything may be at the other end of a serial port: an answer is parsed as Python literals, and its
types are checked, before anything uses it.
"""

from __future__ import annotations

import ast
from dataclasses import MISSING, fields
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from .errors import DeployError

_MAX = 1 << 53  # larger integers are neither sizes nor addresses
_SHOWN = 60  # characters of an answer that a message quotes
_NO_LITERAL = (ValueError, SyntaxError, TypeError, MemoryError, RecursionError)
Class = TypeVar("Class")


def parsed(printed: str, kind: Any, due: str) -> Any:
    """Parse the value that a board printed.

    Args:
        printed: the board's output.
        kind: the expected type, such as `tuple[str, int]`; an int must be from 0 to 2**53.
        due: description of the value, for the message.

    Raises:
        DeployError: if the text is not a literal, or one of another type.
    """
    try:
        value = ast.literal_eval(printed.strip())
    except _NO_LITERAL:
        raise unexpected(printed, due) from None
    if not _is(value, kind):
        raise unexpected(printed, due)
    return value


def parsed_lines(printed: str, kind: Any, due: str, n: int | None = None) -> list:
    """Parse the value on each line of a board's output.

    Args:
        printed: the board's output.
        kind: the expected type of each line, as for `parsed`.
        due: description of each value, for the message.
        n: expected number of lines; None for any number.

    Raises:
        DeployError: if a line, or the number of lines, is not as expected.
    """
    lines = printed.splitlines()
    if n is not None and len(lines) != n:
        raise unexpected(printed, f"{n} lines with {due}")
    return [parsed(line, kind, due) for line in lines]


def parsed_fields(printed: str, dataclass: type[Class], due: str) -> Class:
    """Parse a dict of a dataclass's fields, and return the instance.

    Raises:
        DeployError: if a field is missing, unknown, or of another type than the dataclass
            declares.
    """
    values = parsed(printed, dict, due)
    kinds = get_type_hints(dataclass)
    needed = {f.name for f in fields(dataclass) if f.default is MISSING}
    if not needed <= values.keys() <= kinds.keys():
        raise unexpected(printed, due)
    if not all(_is(value, kinds[name]) for name, value in values.items()):
        raise unexpected(printed, due)
    return dataclass(**values)


def unexpected(printed: str, due: str) -> DeployError:
    """Return the error that quotes a board's answer and names the expected one."""
    text = printed.strip()
    shown = repr(text[:_SHOWN]) + " ..." * (len(text) > _SHOWN) if text else "nothing"
    return DeployError(f"the board answers {shown} instead of {due}: reset it, and try again")


def _is(value, kind):
    """Return True if a value has a type: a class, tuple[...], list[...], or a union of these."""
    of = get_args(kind)
    if isinstance(kind, UnionType):
        return any(_is(value, each) for each in of)
    if get_origin(kind) is tuple:
        kinds = of[:1] * len(value) if of[-1] is ... and type(value) is tuple else of
        return type(value) is tuple and len(value) == len(kinds) and all(map(_is, value, kinds))
    if get_origin(kind) is list:
        return type(value) is list and all(_is(each, of[0]) for each in value)
    return type(value) is kind and (kind is not int or 0 <= value <= _MAX)
