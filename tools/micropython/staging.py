"""Put a script and its files into one folder, or into a read-only ROMFS image."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path, PurePosixPath

from mpconnxr.forms import COMPILED
from tools import romfs

from .errors import TargetError

# The script's name in that folder, in tracebacks and in sys.argv[0], on every target.
SCRIPT = "script"


@contextmanager
def staged(script: str | Path, files: Mapping[str, bytes | Path] | None) -> Iterator[Path]:
    """Yield a temporary folder with the script and `files`; link paths, write bytes."""
    with tempfile.TemporaryDirectory(prefix="mpconnxr-") as name:
        folder = Path(name)
        for relative, content in (files or {}).items():
            _stage(folder, relative, content)
        text = script.read_bytes() if isinstance(script, Path) else script.encode()
        (folder / SCRIPT).write_bytes(text)
        yield folder


def _stage(folder: Path, relative: str, content: bytes | Path) -> None:
    path = folder / relative
    is_inside = path.resolve().is_relative_to(folder.resolve())
    if not is_inside or path.exists() or relative == SCRIPT:
        raise TargetError(f"cannot give the script a file named {relative!r}")
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Path):
        if not content.exists():
            raise TargetError(f"{content} does not exist")
        path.symlink_to(content.resolve())
    else:
        path.write_bytes(content)


def romfs_image(folder: Path, arch: str = "") -> bytes:
    """Return the folder, links followed, as an image for MicroPython's VfsRom.

    Loops that no firmware can compile (mpconnxr.forms.COMPILED) are compiled to .mpy if they are
    for this arch, and omitted otherwise.

    Args:
        folder: the folder.
        arch: architecture of the target's native code; "" for none.
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
    from tools.mpy.compile import compiled  # slow to import, and few scripts need it

    return compiled(source, path, arch)


def _contents(folder: Path, above: str) -> Iterator[tuple[str, bytes]]:
    for path in folder.iterdir():
        if path.name == "__pycache__":
            continue
        if path.is_dir():
            yield from _contents(path, f"{above}{path.name}/")
        else:
            yield f"{above}{path.name}", path.read_bytes()
