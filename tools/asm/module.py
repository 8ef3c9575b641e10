"""Write the module of a form: Python whose functions are machine code."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from .assemble import Function
from .forms import FORMS, Core
from .recipes import Recipe

_A_LINE = 10  # words of 2 bytes: 4 bytes may not fit in a small integer on a board


def module(recipe: Recipe, form: str, functions: Iterable[Function]) -> str:
    """Return the text of a module with these functions. Raises AsmError."""
    core = FORMS[form].core
    return of_functions(core, recipe.about, recipe.before, functions, recipe.after)


def of_functions(
    core: Core,
    about: Sequence[str],
    before: Sequence[str],
    functions: Iterable[Function],
    after: Sequence[str],
) -> str:
    """Return the text of a module with functions of a core.

    Args:
        core: core of the functions.
        about: lines of the docstring.
        before: Python before the functions.
        functions: machine code.
        after: Python after the functions.
    """
    lines = [*about, "", "import micropython"]
    if before:
        lines += ["", *before]
    for function in functions:
        arguments = ", ".join(core.registers[: function.arguments])
        lines += ["", "", f"@micropython.{core.decorator}", f"def {function.name}({arguments}):"]
        lines += _data(function)
    if after:
        lines += ["", "", *after]
    return "\n".join(lines) + "\n"


def _data(function: Function) -> list[str]:
    """Return the statements that place a function's words."""
    words = [f"0x{w:04X}" for (w,) in struct.iter_unpack("<H", function.code)]
    lines = [words[i : i + _A_LINE] for i in range(0, len(words), _A_LINE)]
    return [f"    data(2, {', '.join(line)})" for line in lines]
