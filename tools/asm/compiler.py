"""Machine code of loops that are written in viper, by way of C."""

from __future__ import annotations

import ast
import re
import tempfile
from functools import cache
from pathlib import Path

from tools.elf import Elf

from ..made import ROOT
from .assemble import Function
from .errors import AsmError
from .forms import FORMS, SOURCES, Core
from .source import Source
from .translate import is_loop, to_c

VERSION = "12.2"  # of the compilers whose code is committed; others make other code
LOOPS = ROOT / "mpconnxr" / "loops"
_FLAGS = (
    *("-ffreestanding", "-fno-builtin", "-fwrapv", "-fno-strict-aliasing"),
    *("-fno-jump-tables", "-fno-tree-loop-distribute-patterns", "-fno-toplevel-reorder"),
    *("-nostdlib", "-Wl,-e,0", "-Wl,-Ttext=0", "-Wl,--build-id=none"),
)
# What stands before the code that a compiler makes. @micropython.asm_thumb writes the first
# instruction, and one that ends the function behind all of it. Literals stand before a function.
_BEGIN = {
    "arm": '__asm__("push {r1, r4-r7, lr}; bl BEGIN; pop {r1, r4-r7, pc}; .balign 4");',
    "rv32": '__asm__("j BEGIN");',
    "xtensa": '__asm__("j BEGIN; .balign 4");',
}
_NBYTES_OF_PUSH = {"arm": 2, "rv32": 0, "xtensa": 0}
# Whether a form has an instruction for it; 1 if it is not named, 2: the compiler does not know it.
_DIVIDES = {"thumb": 0, "xtensawin": 2}


@cache
def version(core: Core) -> str:
    """Of a core's compiler: major and minor."""
    shown = core.run("-dumpfullversion").stdout
    return ".".join(shown.strip().split(".")[:2])


def viper_path(family: str) -> Path:
    """The module that has a family's loops in viper."""
    tuned = LOOPS / "viper" / f"{family}.py"
    return tuned if tuned.exists() else LOOPS / f"{family}.py"


def loops(path: Path) -> list[ast.FunctionDef]:
    """Those of a module in viper that can be compiled."""
    return [f for f in _tree(path).body if isinstance(f, ast.FunctionDef) and is_loop(f)]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def compiled(family: str, name: str, form: str, fast: bool = False) -> Function:
    """The machine code of a loop for a form: small, or fast. Raises AsmError."""
    paths = [viper_path(family), LOOPS / f"{family}.py"]
    found = [f for path in paths for f in loops(path) if f.name == name]
    if not found:
        raise AsmError(f"{family} has no loop {name} in viper")
    return machine_code(found[0], form, fast)


def machine_code(function: ast.FunctionDef, form: str, fast: bool = False) -> Function:
    """A function in viper, compiled for a form. Raises AsmError."""
    level = "-O2" if fast else "-Os"
    return from_c(function.name, len(function.args.args), to_c(function), form, level)


def from_source(source: Source, form: str) -> Function:
    """The one function of a source in C that is not static. Raises AsmError."""
    text = source.path.read_text()
    found = re.findall(r"^int (\w+)\((.*?)\)", text, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise AsmError(f"{source.shown} has to have one function: int NAME(...)")
    [(name, arguments)] = found
    return from_c(name, arguments.count(",") + 1, text, form, "-O2")


def from_c(name: str, arguments: int, text: str, form: str, level: str) -> Function:
    """The function of this name in a text in C, compiled for a form. Raises AsmError."""
    core, flags = FORMS[form].core, FORMS[form].flags
    begin = _BEGIN[core.name].replace("BEGIN", name)
    text = f"{begin}\n{text}"
    with tempfile.TemporaryDirectory() as folder:
        out, source = Path(folder, "out.elf"), Path(folder, f"{name}.c")
        source.write_text(text)
        define = f"-DDIVIDES={_DIVIDES.get(form, 1)}"
        done = core.run(*flags, level, *_FLAGS, define, "-I", SOURCES, "-o", out, source)
        if done.returncode:
            raise AsmError(f"{name} as {form}:\n{done.stderr.strip()}\n{text}")
        code = _only_code(Elf(out.read_bytes()), name)
    code = code[_NBYTES_OF_PUSH[core.name] :]
    code += bytes(len(code) % 2)
    return Function(name, arguments, code)


def _only_code(elf: Elf, name: str) -> bytes:
    sections = [s for s in elf.sections if s.is_code]
    if len(sections) != 1 or elf.sections[elf.number_of(".text")] != sections[0]:
        raise AsmError(f"{name}: the compiler made more than code")
    [text] = sections
    return elf.data[text.offset : text.offset + text.nbytes]
