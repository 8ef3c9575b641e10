"""Make ROMFS images for MicroPython's VfsRom, in which models are aligned."""

from __future__ import annotations

from collections.abc import Mapping

from mpremote.romfs import VfsRomWriter

ALIGNMENT = 16  # of models, which are used in place [bytes]


class _Writer(VfsRomWriter):
    """Writer whose header has a fixed length, so that offsets of data are known in advance."""

    _LENGTH_NBYTES = 5
    _HEADER_NBYTES = len(VfsRomWriter.ROMFS_HEADER) + _LENGTH_NBYTES

    def aligned(self, data: bytes) -> int:
        """Write data at an aligned offset for files to point to; return that offset."""
        before = self._HEADER_NBYTES + self._extend(b"")
        own = len(self._pack(self.ROMFS_RECORD_KIND_DATA_VERBATIM, data)) - len(data)
        filler = -(before + own + 2) % ALIGNMENT  # 2 for the padding's own kind and length
        self._extend(self._pack(self.ROMFS_RECORD_KIND_PADDING, bytes(filler)))
        return self.mkdata(data)

    def finalise(self) -> bytes:
        [(_, data)] = self._dir_stack
        length = self._encode_uint(len(data))
        return self.ROMFS_HEADER + length.rjust(self._LENGTH_NBYTES, b"\x80") + data


def image_of(files: Mapping[str, bytes]) -> bytes:
    """Return an image of files by path.

    ROMFS itself starts a file at any multiple of 2. Here files called .bin start at multiples of
    ALIGNMENT.
    """
    writer = _Writer()
    models = {path: data for path, data in files.items() if path.endswith(".bin")}
    places = {path: (len(data), writer.aligned(data)) for path, data in models.items()}
    folder: list[str] = []
    for path in sorted(files, key=lambda path: path.split("/")):
        *above, name = path.split("/")
        while folder != above[: len(folder)]:
            writer.closedir()
            folder.pop()
        for part in above[len(folder) :]:
            writer.opendir(part)
            folder.append(part)
        writer.mkfile(name, places.get(path) or files[path])
    for _ in folder:
        writer.closedir()
    return bytes(writer.finalise())
