"""Decide how a module of machine code is made: from which sources, and with which Python code.

A recipe is a source in assembler or C, or a module in viper whose loops are compiled. Viper keeps
most words of a loop on the stack, a compiler keeps them in registers: its code is a quarter as
long and takes a third of the instructions. So cores with an inline assembler have these loops as a
form of machine code, too. Functions that call other loops remain viper.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from functools import cache

from ..loops import python
from ..made import documented
from .assemble import Function, assemble
from .compiler import compiled, from_source, loops, translated
from .errors import AsmError
from .forms import FORMS, Core
from .source import Source, sources

FORMS_MADE = ("thumb", "rv32", "xtensawin")  # for each core the form that all its processors run
_FAST = "armv7m"  # newer cores also get their own code: a third fewer instructions, more bytes
_TITLE = re.compile(r"(: see loops/\w+)?\..*", re.DOTALL)


@dataclass(frozen=True)
class Assembled:
    """The recipe of a source in assembler or C.

    Attributes:
        name: name of the family.
        core: core of the forms.
        about: lines of the module's docstring.
        before: Python before the functions.
        after: Python after the functions.
    """

    source: Source

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def core(self) -> Core:
        return self.source.core

    @property
    def about(self) -> list[str]:
        return documented(self.source.doc, "Machine code, made", self.source.shown)

    @property
    def before(self) -> list[str]:
        return [*self.source.before]

    @property
    def after(self) -> list[str]:
        return [*self.source.after]

    def functions(self, form: str) -> list[Function]:
        """Return the functions: first those compiled from viper, then those of the source."""
        others = [(compiled(self.name, name, form), shown) for name, shown in self.source.compiled]
        return [replace(function, name=shown) for function, shown in others] + self.own(form)

    def own(self, form: str) -> list[Function]:
        """Make the functions that are in the source itself. Raises AsmError."""
        is_c = self.source.is_c
        return [from_source(self.source, form)] if is_c else assemble(self.source, form)

    def texts(self, form: str) -> list[str]:
        return [
            self.source.path.read_text(),
            *(translated(self.name, name) for name, _ in self.source.compiled),
        ]


@dataclass(frozen=True)
class Compiled:
    """The recipe of a family whose loops exist only in viper, with the interface of Assembled.

    Attributes:
        fast: optimize for speed rather than size.
    """

    name: str
    core: Core
    fast: bool

    @property
    def _module(self) -> python.Module:
        return python.viper(self.name)

    @property
    def _tree(self) -> ast.Module:
        return _parsed(self._module.text)

    @property
    def about(self) -> list[str]:
        title = _TITLE.sub("", ast.get_docstring(self._tree) or "")
        doc = f"{title}: see loops/{self.name}. Compiled from viper."
        return documented(doc, "Machine code, made", self._module.shown)

    @property
    def before(self) -> list[str]:
        """Imports of names that the functions in `after` use."""
        text = self._rest()
        used = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        imports = [node for node in self._tree.body if isinstance(node, ast.ImportFrom)]
        needed = [node for node in imports if used & {a.asname or a.name for a in node.names}]
        if needed and python.is_common(self._module.text):  # relative imports
            raise AsmError(
                f"{self._module.shown}: {ast.unparse(needed[0])} would not work one folder deeper"
            )
        return [ast.unparse(node) for node in needed]

    @property
    def after(self) -> list[str]:
        rest, names = self._rest(), self._names()
        others = [ast.unparse(n) for n in self._tree.body if _is_other_name(n, names)]
        return ([rest] if rest else []) + others

    def functions(self, form: str) -> list[Function]:
        return [compiled(self.name, name, form, self.fast) for name in self._names()]

    def texts(self, form: str) -> list[str]:
        return [translated(self.name, name) for name in self._names()]

    def _names(self) -> list[str]:
        """Return the module's loops, and loops that a tuned module imports from the plain one."""
        nodes = [
            n for n in self._tree.body if isinstance(n, ast.ImportFrom) and n.module == self.name
        ]
        own = [function.name for function in loops(self._module.text)]
        return own + [alias.name for node in nodes for alias in node.names]

    def _rest(self) -> str:
        """Return the functions that are not compiled, since they call others."""
        names = self._names()
        rest = [f for f in self._tree.body if isinstance(f, ast.FunctionDef)]
        return "\n\n\n".join(self._text(f) for f in rest if f.name not in names)

    def _text(self, function: ast.FunctionDef) -> str:
        lines = self._module.text.splitlines()
        first = min([d.lineno for d in function.decorator_list], default=function.lineno)
        return "\n".join(lines[first - 1 : function.end_lineno])


Recipe = Assembled | Compiled


@cache
def recipes() -> dict[tuple[str, str], Recipe]:
    """Return the recipes by family and form. A source in assembler precedes a module in viper."""
    result: dict[tuple[str, str], Recipe] = {}
    for source in sources():
        result |= {(source.name, form): Assembled(source) for form in source.forms}
    names = sorted({name for name, form in python.modules() if form == "plain"})
    families = [(name, form) for name in names for form in FORMS_MADE]
    # hand-written assembler for all processors of a core beats compiled code for some
    families += [(name, _FAST) for name in names if (name, "thumb") not in result]
    for name, form in families:
        if (name, form) not in result and loops(python.viper(name).text):
            result[name, form] = Compiled(name, FORMS[form].core, form == _FAST)
    return result


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _is_other_name(node: ast.stmt, names: list[str]) -> bool:
    """Return True if a statement assigns one of these functions to another name."""
    is_name = isinstance(node, ast.Assign) and isinstance(node.value, ast.Name)
    return is_name and node.value.id in names
