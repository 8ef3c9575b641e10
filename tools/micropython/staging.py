"""The folder a script finds its files in, on this machine and as a read-only ROMFS image."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mpremote.romfs import VfsRomWriter

from .errors import TargetError

# The script's own name in that folder: tracebacks and sys.argv[0] say it on every target.
SCRIPT = "script"

ALIGNMENT = 16  # of models in a ROMFS image


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


def romfs_image(folder: Path) -> bytes:
    """The folder, links followed, as an image for MicroPython's VfsRom.

    ROMFS itself starts a file at any multiple of 2. Here those called .bin start at multiples of
    ALIGNMENT, so that models are used where they lie.
    """
    writer = _Writer()
    models = {path: path.read_bytes() for path in sorted(folder.rglob("*.bin")) if path.is_file()}
    places = {path: (len(data), writer.aligned(data)) for path, data in models.items()}
    _write_folder(writer, folder, places)
    return bytes(writer.finalise())


class _Writer(VfsRomWriter):
    """With a header of one length, so that it is known where data come to lie."""

    _LENGTH_NBYTES = 5
    _HEADER_NBYTES = len(VfsRomWriter.ROMFS_HEADER) + _LENGTH_NBYTES

    def aligned(self, data: bytes) -> int:
        """Writes data to which files may point; returns where they are behind the header."""
        before = self._HEADER_NBYTES + self._extend(b"")
        own = len(self._pack(self.ROMFS_RECORD_KIND_DATA_VERBATIM, data)) - len(data)
        filler = -(before + own + 2) % ALIGNMENT  # 2 for the padding's own kind and length
        self._extend(self._pack(self.ROMFS_RECORD_KIND_PADDING, bytes(filler)))
        return self.mkdata(data)

    def finalise(self) -> bytes:
        [(_, data)] = self._dir_stack
        length = self._encode_uint(len(data))
        return self.ROMFS_HEADER + length.rjust(self._LENGTH_NBYTES, b"\x80") + data


def _write_folder(writer: _Writer, folder: Path, places: Mapping[Path, tuple[int, int]]) -> None:
    for path in sorted(folder.iterdir()):
        if path.name == "__pycache__":
            continue
        if path.is_dir():
            writer.opendir(path.name)
            _write_folder(writer, path, places)
            writer.closedir()
        else:
            writer.mkfile(path.name, places.get(path) or path.read_bytes())
