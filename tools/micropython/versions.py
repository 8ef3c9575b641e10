"""Targets of another version of MicroPython: `unix32@1.26.1`.

The version is part of the name, and of the name in the cache folder. Of each version only the
targets that it was built for here, or that npm has: see docs/targets.md.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .errors import TargetError
from .npm import NpmRecipe
from .recipe import Recipe
from .source import VERSION
from .target import Target

# From which version on a target, or a board of our own, is not built. ports/qemu links with ld, to
# which these boards do not speak; native code for RISC-V takes Zcmp, which QEMU 7.2 does not know.
_NOT_FROM = {
    "SIM_DE212": (1, 27),
    "SIM_LX106": (1, 27),
    "MPS2_AN385_V6M": (1, 28),
    "MPS2_AN386": (1, 28),
    "MPS2_AN505": (1, 28),
    "virt-rv32": (1, 28),
}
_PORTS = ("unix", "qemu", "rp2")


def split(name: str) -> tuple[str, str]:
    """Return (target, version): ("unix32", "1.26.1"), the version "" where the name has none.

    Raises TargetError for a version that is not one.
    """
    base, at, version = name.partition("@")
    if not at:
        return base, ""
    found = re.fullmatch(r"(1\.\d+)(\.\d+)?", version)
    if not found:
        raise TargetError(f"unknown version {version!r} of target {base}: write it as 1.26.1")
    return base, found[1] + (found[2] or ".0")


def of_version(target: Target, version: str) -> Target:
    """Return the target built from another version. Raises TargetError where that cannot be."""
    recipe = target.recipe
    made = recipe.of_version(version) if isinstance(recipe, NpmRecipe) else None
    if made is None:
        made = _recipe(target, version)
    if made == recipe:
        return target
    given = {"name": f"{target.name}@{version}", "recipe": made}
    if hasattr(target, "may_be_installed"):
        given["may_be_installed"] = False
    return replace(target, **given)


def _recipe(target, version):
    """The target's recipe for another version."""
    recipe, number = target.recipe, tuple(map(int, version.split(".")))
    can = isinstance(recipe, Recipe) and recipe.port in _PORTS and number >= (1, 24)
    first = _NOT_FROM.get(recipe.board or target.name) if can else number
    if first and number >= first:
        raise TargetError(f"{target.name} is not built from MicroPython {version} here")
    if version == VERSION:
        return recipe
    return replace(recipe, version=version, options=tuple(_options(recipe.options, number)))


def _options(options, number):
    """What later versions do not know under the same name."""
    for option in options:
        if option == "MICROPY_FORCE_32BIT=1" and number >= (1, 28):
            yield from ("CC=gcc -m32", "LDFLAGS_EXTRA=-m32")
        else:
            yield option
