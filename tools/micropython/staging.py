"""The folder a script finds its files in, on this machine and as a read-only ROMFS image."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath

from mpconnxr.forms import COMPILED
from tools import romfs

from .errors import TargetError

# The script's own name in that folder: tracebacks and sys.argv[0] say it on every target.
SCRIPT = "script"


@contextmanager
def staged(script: str | Path, files: Mapping[str, bytes | Path] | None) -> Iterator[Path]:
    """A temporary folder with the script and `files`: bytes are written, paths are linked."""
    with tempfile.TemporaryDirectory(prefix="mpconnxr-") as name:
        folder = Path(name)
        for relative, content in (files or {}).items():
            _stage(folder, relative, content)
        text = script.read_bytes() if isinstance(script, Path) else script.encode()
        (folder / SCRIPT).write_bytes(text)
        yield folder


def _stage(folder: Path, relative: str, content: bytes | Path) -> None:
    place = folder / relative
    inside = place.resolve().is_relative_to(folder.resolve())
    if not inside or place.exists() or relative == SCRIPT:
        raise TargetError(f"cannot give the script a file named {relative!r}")
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Path):
        if not content.exists():
            raise TargetError(f"{content} is not there")
        place.symlink_to(content.resolve())
    else:
        place.write_bytes(content)


def romfs_image(folder: Path, arch: str = "") -> bytes:
    """The folder, links followed, as an image for MicroPython's VfsRom; arch: of its native code.

    Loops that no firmware takes as source (mpconnxr.forms) are there as .mpy files, if they are
    for this arch.
    """
    files = dict(_contents(folder, ""))
    for form in COMPILED:
        for path in [p for p in files if PurePosixPath(p).match(f"loops/{form}/*.py")]:
            source = files.pop(path)
            if arch == form:
                files[path.removesuffix("py") + "mpy"] = _compiled(source.decode(), path, arch)
    return romfs.image_of(files)


@cache
def _compiled(source: str, path: str, arch: str) -> bytes:
    from tools.mpy.compile import compiled  # which imports a compiler that few scripts need

    return compiled(source, path, arch)


def _contents(folder: Path, above: str) -> Iterator[tuple[str, bytes]]:
    for path in folder.iterdir():
        if path.name == "__pycache__":
            continue
        if path.is_dir():
            yield from _contents(path, f"{above}{path.name}/")
        else:
            yield f"{above}{path.name}", path.read_bytes()
