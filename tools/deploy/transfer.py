"""Copies what has changed to the board."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from tools.progress import Progress, progress

from .code import File
from .device import Device, Digest
from .errors import DeployError
from .romfs import Partition
from .xip import Reference, Region

NEW = ".new"  # what on_board.py calls a file that is not in place yet
ADVICE = "remove files there; for a smaller model, mpconnxr advise tries options of the converter"
_BLOCK = 4096  # bytes that a file takes at least on the flash file systems of boards


@dataclass
class Changes:
    """What there is to do. copy: files that the board has not, or has otherwise; staged: those of
    them that an interrupted copy left whole; kept: the others; same: their paths, and those of
    what is staged; local: where the board has a file's contents under another path; spare: files
    that may go before the first is copied; late: paths of files that are staged, but get their
    names only later.
    """

    copy: list[File]
    staged: list[File]
    same: set[str]
    local: dict[str, str] = field(default_factory=dict)
    spare: list[str] = field(default_factory=list)
    late: set[str] = field(default_factory=set)
    kept: list[File] = field(default_factory=list)

    @property
    def sent(self) -> list[File]:
        """Those that come from this computer."""
        return [f for f in self.copy if f.path not in self.local]

    @property
    def nbytes(self) -> int:
        """Bytes that are sent."""
        return sum(len(f.data) for f in self.sent)

    @property
    def files(self) -> list[File]:
        """All files that shall be there."""
        return self.copy + self.kept

    def with_file(self, device: Device, file: File, sizes: dict[str, int]) -> Changes:
        """With one more file, the last one."""
        more = compare(device, [file], sizes)
        self.copy += more.copy
        self.staged += more.staged
        self.kept += more.kept
        self.same |= more.same
        return self

    def replaces(self, sizes: dict[str, int]) -> bool:
        """Whether files that are there would change or go; sizes: of them, by path."""
        return any(f.stale for f in self.files) or any(f.path in sizes for f in self.copy)


def compare(device: Device, files: list[File], sizes: dict[str, int]) -> Changes:
    """sizes: of the files on the board, by path. Digests are compared where sizes are equal."""
    files = [replace(f, stale=tuple(p for p in f.stale if p in sizes)) for f in files]
    wanted = {path: f.data for f in files for path in (f.path, f.path + NEW)}
    alike = {path: len(data) for path, data in wanted.items() if sizes.get(path) == len(data)}
    found = device.digests(alike).items()
    same = {path for path, digest in found if digest == Digest.of(wanted[path])}
    copy = [f for f in files if f.path not in same]
    staged = [f for f in copy if f.path + NEW in same]
    return Changes(copy, staged, same, kept=[f for f in files if f.path in same])


def check_space(
    device: Device, changes: Changes, folder: str, sizes: dict[str, int], advice: str = ADVICE
) -> None:
    """Raises DeployError if what is to be copied has no room next to what it replaces."""
    free, unit = device.space(folder)
    unit = max(unit, 1) if unit <= _BLOCK else _BLOCK

    def room(nbytes):
        return -(-nbytes // unit) * unit

    wanted = sum(room(len(f.data)) for f in changes.copy if f not in changes.staged)
    free += sum(room(sizes[path]) for path in changes.spare if path in sizes)
    if wanted > free:
        raise DeployError(
            f"{wanted:,} bytes to copy, {free:,} free on the board in {folder}: {advice}"
        )


def bring(device: Device, files: list[File], folder: str, by: str) -> None:
    """Copies what the board has not yet. Raises DeployError.

    folder: in whose file system; by: the command that people called.
    """
    sizes = device.sizes({f.path.rpartition("/")[0] or "/" for f in files})
    changes = compare(device, files, sizes)
    check_space(device, changes, folder, sizes)
    copy(device, changes, by)


def waiting(
    what: str, nbytes: int | None = None, by: str = "flash"
) -> AbstractContextManager[Progress]:
    """Says so while the board is at work: an emulated one is for minutes."""
    return progress(by, what, nbytes, "B")


def clear(device: Device, changes: Changes) -> None:
    """Removes the files that may go."""
    for path in changes.spare:
        device.remove(path)  # if it is there


def program(region: Region, reference: Reference, data: bytes) -> None:
    """Writes a model to flash that no file system has."""
    with waiting("writing the model to flash", len(data)) as bar:
        region.write(reference, data, bar.update)


def write_image(partition: Partition, image: bytes) -> None:
    """Writes a ROMFS."""
    with waiting("writing the ROMFS", len(image)) as bar:
        partition.write(image, bar.update)


def copy(device: Device, changes: Changes, by: str = "flash") -> None:
    """Stages each file and gives it its name."""
    with waiting("copying", changes.nbytes, by) as bar:
        for f in changes.copy:
            bar.describe(f"copying {f.path.rpartition('/')[2]}")
            if f in changes.staged:
                bar.update(len(f.data))
            elif f.path in changes.local:
                device.duplicate(changes.local[f.path], f.path, f.data)
            else:
                device.stage(f.path, f.data, bar.update)
            if f.path not in changes.late:
                device.put(f.path, f.stale)
    for f in changes.kept:
        for path in f.stale:
            device.remove(path)
