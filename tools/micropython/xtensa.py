"""Build for Xtensa cores that Debian's cross compiler, made for the ESP8266's core, does not know.

binutils reads the instructions of another core from a shared object. It is compiled here from
QEMU's table of the core, out of QEMU's source: the folder `QEMU_SRC`, or Debian's package.
"""

import hashlib
import os
import tarfile
from dataclasses import dataclass
from pathlib import Path

from ..cache import made
from .aptmirror import download_source
from .errors import TargetError
from .process import compile_c
from .recipe import BOARDS, Recipe
from .source import DEBIAN_SUITE

SOURCES = BOARDS / "sim"


@dataclass(frozen=True)
class XtensaRecipe(Recipe):
    """A recipe for an Xtensa core.

    Attributes:
        core: QEMU's name of a core that binutils does not know; "" for the ESP8266's.
    """

    core: str = ""

    def environment(self) -> dict[str, str]:
        """Return the environment of make, with the description of the core."""
        environment = super().environment()
        if self.core:
            environment["XTENSA_GNU_CONFIG"] = str(describe(self.core))
        return environment


def describe(core: str) -> Path:
    """Return the shared object that describes the core to binutils, compiled once."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in _sources()))
    return made(
        f"xtensa-{core}-{digest.hexdigest()[:8]}.so",
        lambda folder, product: _compile(core, _source(core, folder), product),
    )


def _sources() -> list[Path]:
    return [SOURCES / "core.c", SOURCES / "qemu" / "osdep.h"]


def _source(core: str, folder: Path) -> Path:
    """Return a folder with the part of QEMU's source that describes the core."""
    name = os.environ.get("QEMU_SRC")
    if name:
        source = Path(name).expanduser().resolve()
        if not (source / "target" / "xtensa" / f"core-{core}").is_dir():
            raise TargetError(f"QEMU_SRC={name} is not QEMU's source folder")
        return source
    try:
        archive = download_source("qemu", DEBIAN_SUITE, folder)
    except TargetError as error:
        raise TargetError(
            f"cannot get QEMU's source ({error}); set QEMU_SRC to a folder with it"
        ) from None
    prefixes = (f"target/xtensa/core-{core}/", "target/xtensa/xtensa-isa", "include/hw/xtensa/")
    with tarfile.open(archive) as tar:
        for member in tar:
            path = member.name.partition("/")[2]
            if member.isfile() and path.startswith(prefixes) and ".." not in path:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(tar.extractfile(member).read())
    return folder


def _compile(core: str, source: Path, product: Path) -> None:
    tables = source / "target" / "xtensa"
    command = [
        *("gcc", "-shared", "-fPIC", "-O1", "-w", f"-I{SOURCES}"),
        *(f"-I{source / 'include'}", f"-I{tables}", f"-I{tables / f'core-{core}'}"),
        *("-include", str(tables / f"core-{core}" / "core-isa.h")),
        *("-o", str(product), str(SOURCES / "core.c")),
    ]
    compile_c(command, f"QEMU's description of {core}")
