"""Compile loops that are written in viper or C to machine code."""

from __future__ import annotations

import ast
import re
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tools.elf import Elf

from ..loops import python
from .assemble import Function, names
from .errors import AsmError
from .forms import FORMS, SOURCES, Core
from .source import Source
from .translate import is_loop, to_c

VERSION = "12.2"  # of the compilers; other versions make different code
_FLAGS = (
    *("-ffreestanding", "-fno-builtin", "-fwrapv", "-fno-strict-aliasing"),
    *("-fno-jump-tables", "-fno-tree-loop-distribute-patterns", "-fno-toplevel-reorder"),
    *("-nostdlib", "-Wl,-e,0", "-Wl,-Ttext=0", "-Wl,--build-id=none"),
)
# Precedes the compiled code, in which literals may precede the function. @micropython.asm_thumb
# itself writes the first instruction, and one after the code that ends the function.
_BEGIN = {
    "arm": '__asm__("push {r1, r4-r7, lr}; bl BEGIN; pop {r1, r4-r7, pc}; .balign 4");',
    "rv32": '__asm__("j BEGIN");',
    "xtensa": '__asm__("j BEGIN; .balign 4");',
}
_NBYTES_OF_PUSH = {"arm": 2, "rv32": 0, "xtensa": 0}
# 0: the form cannot divide; 1 (default): it can; 2: it can, but the compiler does not know.
_DIVIDES = {"thumb": 0, "xtensawin": 2}


@cache
def version(core: Core) -> str:
    """Return major and minor version of a core's compiler."""
    output = core.run("-dumpfullversion").stdout
    return ".".join(output.strip().split(".")[:2])


@cache
def loops(text: str) -> list[ast.FunctionDef]:
    """Return the loops of a module in viper that can be compiled."""
    return [f for f in ast.parse(text).body if isinstance(f, ast.FunctionDef) and is_loop(f)]


def compiled(family: str, name: str, form: str, fast: bool = False) -> Function:
    """Return the machine code of a loop for a form.

    Args:
        family: family of the loop.
        name: name of the loop.
        form: key of FORMS.
        fast: optimize for speed rather than size.

    Raises:
        AsmError: if it cannot be compiled.
    """
    return machine_code(_viper_loop(family, name), form, fast)


def translated(family: str, name: str) -> str:
    """Return the C text that a loop is compiled from. Raises AsmError."""
    return to_c(_viper_loop(family, name))


def _viper_loop(family: str, name: str) -> ast.FunctionDef:
    """Return the tuned loop, or else the plain one. Raises AsmError."""
    modules = [python.modules().get((family, form)) for form in ("viper", "plain")]
    candidates = [f for each in modules if each for f in loops(each.text) if f.name == name]
    if not candidates:
        raise AsmError(f"{family} has no loop {name} in viper")
    return candidates[0]


def machine_code(function: ast.FunctionDef, form: str, fast: bool = False) -> Function:
    """Compile a function in viper for a form. Raises AsmError."""
    level = "-O2" if fast else "-Os"
    return from_c(function.name, len(function.args.args), to_c(function), form, level)


def from_source(source: Source, form: str) -> Function:
    """Compile the only function of a C source that is not static. Raises AsmError."""
    text = source.path.read_text()
    functions = re.findall(r"^int (\w+)\((.*?)\)", text, re.MULTILINE | re.DOTALL)
    if len(functions) != 1:
        raise AsmError(f"{source.shown} must have one function: int NAME(...)")
    [(name, arguments)] = functions
    return from_c(name, arguments.count(",") + 1, text, form, "-O2", names(source))


def from_c(
    name: str, arguments: int, text: str, form: str, level: str, defines: Sequence[str] = ()
) -> Function:
    """Compile one function of a C text.

    Args:
        name: name of the function.
        arguments: number of its arguments.
        text: the C text.
        form: key of FORMS.
        level: -O2 or -Os.
        defines: options -DNAME=VALUE.

    Raises:
        AsmError: if it does not compile, or needs more than code.
    """
    core, flags = FORMS[form].core, FORMS[form].flags
    begin = _BEGIN[core.name].replace("BEGIN", name)
    text = f"{begin}\n{text}"
    with tempfile.TemporaryDirectory() as folder:
        out, source = Path(folder, "out.elf"), Path(folder, f"{name}.c")
        source.write_text(text)
        define = f"-DDIVIDES={_DIVIDES.get(form, 1)}"
        done = core.run(*flags, level, *_FLAGS, define, *defines, "-I", SOURCES, "-o", out, source)
        if done.returncode:
            raise AsmError(f"{name} as {form}:\n{done.stderr.strip()}\n{text}")
        code = _only_code(Elf(out.read_bytes()), name)
    code = code[_NBYTES_OF_PUSH[core.name] :]
    code += bytes(len(code) % 2)
    return Function(name, arguments, code)


def _only_code(elf: Elf, name: str) -> bytes:
    sections = [s for s in elf.sections if s.is_code]
    if len(sections) != 1 or elf.sections[elf.number_of(".text")] != sections[0]:
        raise AsmError(f"{name}: the compiler made sections besides the code")
    [text] = sections
    return elf.data[text.offset : text.offset + text.nbytes]
