"""Build the device package from its sources.

mpconnxr/ holds sources. Its loops have more forms than are written by hand: those in viper are
expanded (tools.loops), those in machine code are composed from tools/asm/code. `folder` builds a
package with all of them, once for each state of the sources, in the cache folder. Every tool that
copies, compiles or runs files of the package gets them from there.

A build needs nothing but the standard library: a firmware's build may ask for it (manifest.py).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from .cache import cache_folder, locked
from .made import ROOT, SOURCES

NAME = SOURCES.name
KERNELS = SOURCES / "ops"
_BUILDERS = [ROOT / "tools" / name for name in ("asm", "loops", "package.py", "made.py")]
_SUFFIXES = (".py", ".txt", ".S", ".c", ".h")
_KEPT_S = 7 * 24 * 3600  # s that a build stays in the cache after its last use


@cache
def folder() -> Path:
    """Return the built package, a folder mpconnxr.

    Raises:
        AsmError: if assembler is invalid.
        LoopError: if a loop is invalid.
        OSError: if a file cannot be read or written.
    """
    builds = cache_folder() / "packages"
    place = builds / _digest()[:16]
    if not (place / NAME).is_dir():
        with locked("packages"):
            if not (place / NAME).is_dir():
                _build(place)
                _remove_old(builds)
    os.utime(place)
    return place / NAME


def modules() -> Iterator[tuple[str, str]]:
    """Yield path and text of each module of the package. Raises the errors of `folder`."""
    # Imported here, since few processes build.
    from .asm import code, module
    from .asm.recipes import recipes
    from .loops import python
    from .loops.borrowed import with_borrowed
    from .loops.numbered import kernel

    def place(family, form):
        return (python.folder(Path(), form) / f"{family}.py").as_posix()

    for path in sorted(SOURCES.rglob("*.py")):
        name = path.relative_to(SOURCES)
        if name.parts[0] != "loops":
            yield name.as_posix(), kernel(path) if path.parent == KERNELS else path.read_text()
    known = {(family, form): made.text for (family, form), made in python.modules().items()}
    machine = {
        (family, form): module.module(recipe, form, code.functions_of(form)[family])
        for (family, form), recipe in recipes().items()
        if family in code.functions_of(form)  # a new one is not, before `make loops`
    }
    known |= machine
    for form, text in known.items():
        yield place(*form), with_borrowed(text, known) if form in machine else text


def _build(place: Path) -> None:
    """Write the package below a folder, which appears complete, by a rename."""
    place.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=place.parent, prefix="unfinished-"))
    try:
        for name, text in modules():
            path = unfinished / NAME / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        shutil.rmtree(place, ignore_errors=True)
        unfinished.rename(place)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _remove_old(builds: Path) -> None:
    for path in builds.iterdir():
        if time.time() - path.stat().st_mtime > _KEPT_S:
            shutil.rmtree(path, ignore_errors=True)


def _digest() -> str:
    """Return the SHA-256 of all files that a build is made from."""
    digest = hashlib.sha256()
    for top in (SOURCES, *_BUILDERS):
        for path in sorted([top] if top.is_file() else top.rglob("*")):
            if path.suffix in _SUFFIXES:
                data = path.read_bytes()
                digest.update(f"{path.relative_to(top.parent).as_posix()}\0{len(data)}\0".encode())
                digest.update(data)
    return digest.hexdigest()
