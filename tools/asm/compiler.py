"""Machine code of loops that are written in viper, by way of C."""

from __future__ import annotations

import ast
import tempfile
from functools import cache
from pathlib import Path

from tools.elf import Elf

from ..made import ROOT
from .assemble import Function
from .errors import AsmError
from .forms import FORMS, Core
from .translate import is_loop, to_c

VERSION = "12.2"  # of the compilers whose code is committed; others make other code
LOOPS = ROOT / "mpconnxr" / "loops"
_FLAGS = (
    *("-Os", "-ffreestanding", "-fno-builtin", "-fwrapv", "-fno-strict-aliasing"),
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


def compiled(family: str, name: str, form: str) -> Function:
    """The machine code of a loop for a form. Raises AsmError."""
    paths = [viper_path(family), LOOPS / f"{family}.py"]
    found = [f for path in paths for f in loops(path) if f.name == name]
    if not found:
        raise AsmError(f"{family} has no loop {name} in viper")
    return machine_code(found[0], form)


def machine_code(function: ast.FunctionDef, form: str) -> Function:
    """A function in viper, compiled for a form. Raises AsmError."""
    core, flags = FORMS[form].core, FORMS[form].flags
    begin = _BEGIN[core.name].replace("BEGIN", function.name)
    text = f"{begin}\n{to_c(function)}"
    with tempfile.TemporaryDirectory() as folder:
        out, source = Path(folder, "out.elf"), Path(folder, f"{function.name}.c")
        source.write_text(text)
        define = f"-DDIVIDES={_DIVIDES.get(form, 1)}"
        done = core.run(*flags, *_FLAGS, define, "-o", out, source)
        if done.returncode:
            raise AsmError(f"{function.name} as {form}:\n{done.stderr.strip()}\n{text}")
        code = _only_code(Elf(out.read_bytes()), function.name)
    code = code[_NBYTES_OF_PUSH[core.name] :]
    code += bytes(len(code) % 2)
    return Function(function.name, len(function.args.args), code, {})


def _only_code(elf: Elf, name: str) -> bytes:
    sections = [s for s in elf.sections if s.is_code]
    if len(sections) != 1 or elf.sections[elf.number_of(".text")] != sections[0]:
        raise AsmError(f"{name}: the compiler made more than code")
    [text] = sections
    return elf.data[text.offset : text.offset + text.nbytes]
