"""Parameters of loops by name, as the file of their family declares them.

    # Parameters of sums, largest
    _X_START = const(0)  # first element [elements] 0..
    _STRIDES = const(1)  # from element to element, of each axis [elements x 3] 0..
    _CORNER = const(4)  # of the window [elements, BIAS]
    _FLIP = const(5)  # 128 if x is signed [mask] 0, 128
    # Parameters of sums
    _SCALE = const(6)  # [multiplier] 2**29..2**30

A declaration has a position and a comment: meaning [unit] range. A parameter that another file
imports is `_X_START = 0`, since MicroPython keeps no private const(). `x 3` after the unit means
three consecutive words, `x n` all words up to the end of the block. BIAS means a signed number,
which not every form of a loop can read, stored plus 2**29. Without a range, any value is allowed.
A block has the parameters of all groups that name its loop, from position 0 on, none missing.
Their names in blocks, in `Access:` and in assembler are `x_start`, `strides`.

`# Parameters of add32: as _words.pairs` begins a block with all parameters of another one, whose
constants the file imports where it names them. A form in a folder of its own uses the names of its
family. Built sources have numbers instead of the names: see tools.loops.numbered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from mpconnxr.blocks import declarations
from mpconnxr.parameters import BIAS

from ..made import SOURCES, shown
from .errors import LoopError

LOOPS = SOURCES / "loops"

_COMMENT = re.compile(
    r"(?P<meaning>.*?) ?\[(?P<unit>[^],]*?)(?: x (?P<count>\d+|n))?(?P<bias>, BIAS)?\]"
    r"(?: (?P<range>.+))?"
)
_NUMBER = r"-?\d+(?:\*\*\d+)?(?: - 1)?"
_RANGE = re.compile(rf"(?P<low>{_NUMBER})?\.\.(?P<high>{_NUMBER})?")
_VALUES = re.compile(rf"{_NUMBER}(?:, {_NUMBER})*")
_TAKEN = ("x", "w", "out", "p", "n")  # other names in an `Access:`


class Parameter(NamedTuple):
    """One parameter of a block.

    Attributes:
        name: lower-case name without underscore.
        position: index of its first word in the block.
        meaning: text before the unit.
        unit: text in brackets.
        count: number of words, or None for all up to the block's end.
        low: least value, without BIAS, or None.
        high: greatest value, without BIAS, or None.
        values: all allowed values, if they are listed.
        is_biased: True if the number is stored plus BIAS.
    """

    name: str
    position: int
    meaning: str
    unit: str
    count: int | None = 1
    low: int | None = None
    high: int | None = None
    values: tuple[int, ...] = ()
    is_biased: bool = False

    @property
    def is_list(self) -> bool:
        return self.count != 1

    def numbers(self, words: Sequence[Any]) -> list[Any]:
        """Return the parameter's values from a block, without BIAS.

        Values that are not ints are kept.
        """
        bias = BIAS if self.is_biased else 0
        end = None if self.count is None else self.position + self.count
        values = words[self.position : end]
        return [word - bias if isinstance(word, int) else word for word in values]

    def may_be(self, value: int) -> bool:
        """Return True if a number, without BIAS, is within the declared range."""
        if self.values:
            return value in self.values
        return (self.low is None or self.low <= value) and (
            self.high is None or value <= self.high
        )


@cache
def declared(path: Path) -> dict[str, tuple[Parameter, ...]]:
    """Return the blocks that a file declares, by function: parameters in order of position.

    Raises:
        LoopError: if a declaration cannot be parsed, or positions are not in order.
    """
    blocks_by_name: dict[str, list[Parameter]] = {}
    for number, names, other, constants in groups(path):
        blocks = [blocks_by_name.setdefault(name, []) for name in names]
        try:
            for parameter in block_of(*other) if other else ():
                for block in blocks:
                    _append(block, parameter)
            for constant in constants:
                number = constant[0]
                parameter = _parameter(*constant[1:])
                for block in blocks:
                    _append(block, parameter)
        except ValueError as e:
            raise LoopError(f"{shown(path)}:{number}: {e}") from None
    return {name: tuple(block) for name, block in blocks_by_name.items()}


def block_of(family: str, function: str) -> tuple[Parameter, ...]:
    """Return the parameters of a family's function.

    Raises:
        LoopError: if it declares none.
    """
    path = LOOPS / f"{family}.py"
    if function not in declared(path):
        raise LoopError(f"{shown(path)}: {function} declares no parameters")
    return declared(path)[function]


def places(family: str, function: str) -> dict[str, int]:
    """Return the positions of a function's parameters by name.

    Raises:
        LoopError: if it declares none.
    """
    return {parameter.name: parameter.position for parameter in block_of(family, function)}


def by_name(family: str, function: str, words: Sequence[Any]) -> SimpleNamespace:
    """Return the parameters in a block as attributes, such as `p.out_start`.

    Numbers with BIAS are returned without it, parameters of several words as lists.

    Args:
        family: family of the loop.
        function: name of the loop.
        words: the block.

    Raises:
        LoopError: if the function declares no parameters.
    """
    values = {}
    for parameter in block_of(family, function):
        numbers = parameter.numbers(words)
        values[parameter.name] = numbers if parameter.is_list else numbers[0]
    return SimpleNamespace(**values)


def groups(path: Path) -> list:
    """Return the groups of declarations in a file, as mpconnxr.blocks reads them.

    Returns:
        For each group its (line, names of loops, other, constants): other is (family, function)
        whose parameters come first, or None; constants are (line, name, position, comment).

    Raises:
        LoopError: if they cannot be parsed.
    """
    try:
        return declarations(path.read_text())
    except ValueError as e:
        raise LoopError(f"{shown(path)}: {e}") from None


def _parameter(constant: str, position: str, comment: str | None) -> Parameter:
    """Parse one declaration.

    Raises:
        ValueError: if its comment is malformed.
    """
    parts = _COMMENT.fullmatch(comment or "")
    if not parts:
        raise ValueError(f"{constant}: its comment is not `meaning [unit] range`")
    name = constant[1:].lower()
    if name in _TAKEN:
        raise ValueError(f"{constant}: {name} means something else in `Access:`")
    if not re.fullmatch("0|[1-9][0-9]*", position):
        raise ValueError(f"{constant}: {position} is not a position")
    count = {None: 1, "n": None}.get(parts["count"], parts["count"])
    low, high, values = _bounds(parts["range"] or "..")
    return Parameter(
        name,
        int(position),
        parts["meaning"],
        parts["unit"],
        None if count is None else int(count),
        low,
        high,
        values,
        bool(parts["bias"]),
    )


def _bounds(text: str) -> tuple[int | None, int | None, tuple[int, ...]]:
    if _VALUES.fullmatch(text):
        values = tuple(_number(each) for each in text.split(", "))
        return min(values), max(values), values
    if not (match := _RANGE.fullmatch(text)):
        raise ValueError(f"{text} is not a range")
    low, high = (_number(each) if each else None for each in match.group("low", "high"))
    if low is not None and high is not None and low > high:
        raise ValueError(f"{text}: nothing is in it")
    return low, high, ()


def _number(text: str) -> int:
    value, _, less = text.partition(" - ")
    base, _, power = value.partition("**")
    sign = -1 if base.startswith("-") else 1
    number = abs(int(base))
    return sign * (number ** int(power) if power else number) - int(less or 0)


def _append(block: list[Parameter], parameter: Parameter) -> None:
    """Append a parameter to a block.

    Raises:
        ValueError: if its position does not follow the last one.
    """
    end = 0
    if block:
        if block[-1].count is None:
            raise ValueError(f"{parameter.name} lies behind {block[-1].name}, which has no end")
        end = block[-1].position + block[-1].count
    if parameter.position != end:
        raise ValueError(f"{parameter.name} is at {parameter.position}, not at {end}")
    if parameter.name in [other.name for other in block]:
        raise ValueError(f"{parameter.name} is there twice")
    block.append(parameter)
