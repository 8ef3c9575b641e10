"""Writes the module of a form: Python whose functions are machine code."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..made import documented
from .assemble import Function, assemble
from .compiler import compiled, from_source
from .forms import FORMS, Core
from .source import Source

_A_LINE = 10  # words of two bytes: a word of four may be no small integer on a board


def module(source: Source, form: str) -> str:
    """The text of a module. Raises AsmError."""
    about = documented(source.doc, "Machine code, made", source.path)
    others = [(compiled(source.name, name, form), shown) for name, shown in source.compiled]
    functions = [replace(function, name=shown) for function, shown in others]
    functions += functions_of(source, form)
    return of_functions(FORMS[form].core, about, source.before, functions, source.behind)


def functions_of(source: Source, form: str) -> list[Function]:
    """Those that are in a source. Raises AsmError."""
    return [from_source(source, form)] if source.is_c else assemble(source, form)


def of_functions(
    core: Core,
    about: Sequence[str],
    before: Sequence[str],
    functions: Iterable[Function],
    behind: Sequence[str],
) -> str:
    """about: lines of its docstring; before and behind the functions: Python."""
    lines = [*about, "", "import micropython"]
    if before:
        lines += ["", *before]
    for function in functions:
        arguments = ", ".join(core.registers[: function.arguments])
        lines += ["", "", f"@micropython.{core.decorator}", f"def {function.name}({arguments}):"]
        lines += _data(function)
    if behind:
        lines += ["", "", *behind]
    return "\n".join(lines) + "\n"


def _data(function: Function) -> list[str]:
    """Return the statements that place a function's words."""
    words = [f"0x{w:04X}" for (w,) in struct.iter_unpack("<H", function.code)]
    lines = [words[i : i + _A_LINE] for i in range(0, len(words), _A_LINE)]
    return [f"    data(2, {', '.join(line)})" for line in lines]
