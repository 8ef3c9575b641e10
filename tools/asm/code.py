"""Machine code of loops as data: one text file for each form, which `make loops` writes.

    # Machine code of loops for thumb, which `make loops` writes.
    # arm-none-eabi-gcc 12.2; sources 5f2c...
    add.add32 4 8LVG...

A line is a function: family and name, number of arguments, and code in base64. Families are
sorted; the functions of a family stand in the order of their module. Without a cross compiler the
code is read from here; the digest tells whether it belongs to the current sources.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from ..made import shown
from .assemble import Function
from .compiler import VERSION
from .errors import AsmError
from .forms import FORMS, SOURCES
from .recipes import Recipe

FOLDER = SOURCES / "code"


def path_of(form: str) -> Path:
    """Return the file that has a form's code."""
    return FOLDER / f"{form}.txt"


@cache
def functions_of(form: str) -> Mapping[str, list[Function]]:
    """Return a form's functions by family.

    Raises:
        AsmError: if a line is malformed.
    """
    functions: dict[str, list[Function]] = {}
    path = path_of(form)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        try:
            name, arguments, digits = line.split()
            family, function = name.split(".")
            code = base64.b64decode(digits, validate=True)
            functions.setdefault(family, []).append(Function(function, int(arguments), code))
        except ValueError as e:
            raise AsmError(f"{shown(path)}:{number}: {e}") from None
    return functions


def text_of(form: str, recipes: Iterable[Recipe]) -> str:
    """Assemble and compile a form's functions; return the text of its file.

    Raises:
        AsmError: if a source is wrong.
    """
    recipes = sorted(recipes, key=lambda recipe: recipe.name)
    head = f"{FORMS[form].core.gcc} {VERSION}; sources {digest_of(form, recipes)}"
    lines = [f"# Machine code of loops for {form}, which `make loops` writes.", f"# {head}"]
    for recipe in recipes:
        for function in recipe.functions(form):
            digits = base64.b64encode(function.code).decode()
            lines.append(f"{recipe.name}.{function.name} {function.arguments} {digits}")
    return "\n".join(lines) + "\n"


def digest_of(form: str, recipes: Iterable[Recipe]) -> str:
    """Return the SHA-256 of all that a form's code is made from, as 64 hexadecimal digits."""
    folder = SOURCES / FORMS[form].core.name
    texts = [path.read_text() for path in sorted([*SOURCES.glob("*.h"), *folder.glob("*.h")])]
    for recipe in sorted(recipes, key=lambda recipe: recipe.name):
        texts += [recipe.name, *recipe.texts(form)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def is_current(form: str, recipes: Iterable[Recipe]) -> bool:
    """Return True if a form's file was made from the current sources."""
    head = path_of(form).read_text().splitlines()[1]
    return head.endswith(f"; sources {digest_of(form, recipes)}")
