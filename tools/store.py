"""The families of loops of a package, their forms, and the form that a board takes.

A family is a module name, present once for each of its forms. A form is a folder of loops/; plain
is loops/ itself. A family that is written once has its viper form in its plain module. On the host
this is the only place that chooses a form, as mpconnxr.forms is on the board.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from pathlib import Path

from mpconnxr import forms
from tools import package
from tools.loops import python
from tools.machine import Machine, is_native

_ARCHS_OF_64 = ("x64", "rv64imc")
_WORDS_OF_32 = re.compile(r"^if sys\.maxsize\b.*:\n    raise ImportError", re.MULTILINE)


class Loops:
    """The loops of the package in a folder."""

    def __init__(self, package: Path):
        self._package = package

    def families(self) -> list[str]:
        """Return the names of all families."""
        return sorted(self._modules)

    def path(self, family: str, form: str = "plain") -> Path:
        """Return the path of a form's module, which need not exist."""
        return python.folder(self._package, form) / f"{family}.py"

    def form_of(self, path: Path) -> str | None:
        """Return the form of a module, None if it is not a loop's."""
        folders = {python.folder(self._package, form): form for form in forms.order}
        return folders.get(path.parent)

    def modules(self, family: str) -> dict[str, Path]:
        """Return a family's modules by form, the best one first; none for an unknown family."""
        return self._modules.get(family, {})

    def forms_of(self, family: str) -> dict[str, Path]:
        """Return a family's modules by form; a plain module written once is its viper form too."""
        files = {**self.modules(family)}
        if "viper" not in files and "plain" in files and python.is_common(_text(files["plain"])):
            files["viper"] = files["plain"]
        return {form: files[form] for form in forms.order if form in files}

    def for_machine(self, family: str, machine: Machine) -> dict[str, Path]:
        """Return the forms that a board can run, the best one first and plain last."""
        files = self.forms_of(family)
        return {form: files[form] for form in files if self._suits(files[form], form, machine)}

    def best(self, family: str, machine: Machine) -> tuple[str, Path] | None:
        """Return the form that a board takes, with its module; None if it can run none."""
        return next(iter(self.for_machine(family, machine).items()), None)

    @cached_property
    def _modules(self) -> dict[str, dict[str, Path]]:
        result: dict[str, dict[str, Path]] = {}
        for form in forms.order:
            for path in sorted(python.folder(self._package, form).glob("*.py")):
                result.setdefault(path.stem, {})[form] = path
        return result

    def _suits(self, path: Path, form: str, machine: Machine) -> bool:
        if form == "plain":
            return True
        text = _text(path)
        if not machine.arch or not forms.suits(form, machine.number) or not is_native(text):
            return False
        is_of_32 = bool(_WORDS_OF_32.search(text))
        return machine.runs(text) and not (is_of_32 and machine.arch in _ARCHS_OF_64)


@cache
def loops() -> Loops:
    """Return the loops of the built package."""
    return Loops(package.folder())


@cache
def _text(path: Path) -> str:
    return path.read_text()
