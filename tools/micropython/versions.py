"""Targets of another version of MicroPython, such as `unix32@1.26.1`.

The version is part of the target's name and of its name in the cache folder. docs/targets.md says
which targets exist for which version.
"""

from __future__ import annotations

import re
from dataclasses import replace

from .errors import TargetError
from .npm import NpmRecipe
from .recipe import Recipe
from .source import VERSION
from .target import Target

# First version for which a target, or a board of `boards`, is not built. ports/qemu then links
# with ld, whose options differ from gcc's; native RISC-V code uses Zcmp, unknown to QEMU 7.2.
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
    """Split a name into (target, version): "unix32@1.26.1" gives ("unix32", "1.26.1").

    The version is "" if the name has none.

    Raises:
        TargetError: if the version is malformed.
    """
    base, at, version = name.partition("@")
    if not at:
        return base, ""
    match = re.fullmatch(r"(1\.\d+)(\.\d+)?", version)
    if not match:
        raise TargetError(f"unknown version {version!r} of target {base}: write it as 1.26.1")
    return base, match[1] + (match[2] or ".0")


def of_version(target: Target, version: str) -> Target:
    """Return the target built from another version.

    Raises:
        TargetError: if it cannot be built from that version.
    """
    recipe = target.recipe
    other = recipe.of_version(version) if isinstance(recipe, NpmRecipe) else None
    if other is None:
        other = _recipe(target, version)
    if other == recipe:
        return target
    changes = {"name": f"{target.name}@{version}", "recipe": other}
    if hasattr(target, "may_be_installed"):
        changes["may_be_installed"] = False
    return replace(target, **changes)


def _recipe(target, version):
    """Return the target's recipe for another version."""
    recipe, number = target.recipe, tuple(map(int, version.split(".")))
    is_known = isinstance(recipe, Recipe) and recipe.port in _PORTS and number >= (1, 24)
    first = _NOT_FROM.get(recipe.board or target.name) if is_known else number
    if first and number >= first:
        raise TargetError(f"{target.name} is not built from MicroPython {version} here")
    if version == VERSION:
        return recipe
    return replace(recipe, version=version, options=tuple(_options(recipe.options, number)))


def _options(options, number):
    """Yield the make variables under the names that this version knows."""
    for option in options:
        if option == "MICROPY_FORCE_32BIT=1" and number >= (1, 28):
            yield from ("CC=gcc -m32", "LDFLAGS_EXTRA=-m32")
        else:
            yield option
