"""Modules of loops that are written in viper alone.

Viper keeps most words of a loop on the stack. A compiler keeps them in registers: its code is a
quarter as long, and takes a third of the instructions. So a core with an inline assembler has
these loops as a form like those from assembler: loops/FORM/NAME.py. What calls other loops is
viper there, too.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from ..made import documented, shown
from .compiler import LOOPS, compiled, loops, viper_path
from .errors import AsmError
from .forms import FORMS, Core
from .module import of_functions
from .source import sources

FORMS_MADE = ("thumb", "rv32", "xtensawin")  # of each core the one that all its processors run
_FAST = "armv7m"  # newer ones also get code of their own: a third less instructions, more bytes
_TITLE = re.compile(r"(: see loops/\w+)?\..*", re.DOTALL)


@dataclass(frozen=True)
class Compiled:
    """A module in viper; form: what is made of it."""

    path: Path
    form: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def forms(self) -> tuple[str, ...]:
        return (self.form,)

    @property
    def core(self) -> Core:
        return FORMS[self.form].core

    def module(self) -> str:
        """The text of the form's module. Raises AsmError."""
        tree = ast.parse(self.path.read_text())
        title = _TITLE.sub("", ast.get_docstring(tree) or "")
        doc = f"{title}: see loops/{self.name}. Compiled from viper."
        about = documented(doc, "Machine code, made", self.path)
        names = [function.name for function in loops(self.path)] + self._taken_over(tree)
        rest = [f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name not in names]
        behind = "\n\n\n".join(map(self._text, rest))
        fast = self.form == _FAST
        functions = [compiled(self.name, name, self.form, fast) for name in names]
        before = self._imports(tree, behind)
        behind = [behind] if behind else []
        behind += [ast.unparse(n) for n in tree.body if _is_other_name(n, names)]
        return of_functions(self.core, about, before, functions, behind)

    def _taken_over(self, tree: ast.Module) -> list[str]:
        """Loops that a tuned module imports from the one that is written once."""
        nodes = [n for n in tree.body if isinstance(n, ast.ImportFrom) and n.module == self.name]
        return [alias.name for node in nodes for alias in node.names]

    def _text(self, function: ast.FunctionDef) -> str:
        lines = self.path.read_text().splitlines()
        first = min([d.lineno for d in function.decorator_list], default=function.lineno)
        return "\n".join(lines[first - 1 : function.end_lineno])

    def _imports(self, tree: ast.Module, text: str) -> list[str]:
        """Statements that make names which a text uses."""
        used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
        made = [node for node in imports if used & {a.asname or a.name for a in node.names}]
        if made and self.path.parent == LOOPS:  # the form is a folder deeper
            raise AsmError(f"{shown(self.path)}: {ast.unparse(made[0])} is not taken over")
        return [ast.unparse(node) for node in made]


def _is_other_name(node: ast.stmt, names: list[str]) -> bool:
    """Whether a statement gives another name to one of these."""
    is_name = isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
    return is_name and node.value.id in names


def compiled_sources() -> list[Compiled]:
    """Modules in viper whose loops have no assembler of their own in a form."""
    by_hand = {(source.name, form) for source in sources() for form in source.forms}
    names = [path.stem for path in sorted(LOOPS.glob("*.py"))]
    families = [(name, form) for name in names for form in FORMS_MADE]
    # assembler for all processors of a core is better than what a compiler makes for some
    families += [(name, _FAST) for name in names if (name, "thumb") not in by_hand]
    found = [Compiled(viper_path(name), form) for name, form in families]
    return [c for c in found if (c.name, c.form) not in by_hand and loops(c.path)]
