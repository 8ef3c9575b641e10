"""The modules of loops in Python, by family and form: those of hand, and those of templates."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ..made import ROOT, shown
from .module import module, module_path
from .source import templates

FOLDER = ROOT / "mpconnxr" / "loops"
# Forms in Python, with the folders that hold them.
FORMS = {"vfp": "vfp", "viper64": "viper64", "viper": "viper", "plain": ""}


class Module(NamedTuple):
    """shown: where its text comes from, as people say it."""

    text: str
    shown: str


@cache
def modules() -> dict[tuple[str, str], Module]:
    """Return all of them. Raises TemplateError."""
    found = {}
    for form, folder in FORMS.items():
        for path in sorted((FOLDER / folder).glob("*.py")):
            text = path.read_text()
            if "@micropython.asm_" not in text:
                found[path.stem, form] = Module(text, shown(path))
    for source in templates():
        form = "plain" if source.form == "common" else source.form
        found[source.path.stem, form] = Module(module(source), shown(module_path(source)))
    return found


def is_common(text: str) -> bool:
    """Return whether a plain module has its family's viper form in it."""
    return "\nCOMMON = True" in text


def viper(family: str) -> Module:
    """Return the module that has a family's loops in viper, if it has any."""
    tuned = modules().get((family, "viper"))
    return tuned or modules()[family, "plain"]
