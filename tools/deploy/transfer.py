"""Compare files with the board's, and copy those that differ."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from tools.progress import Progress, progress

from .code import File
from .device import Device, Digest
from .errors import DeployError
from .romfs import Partition
from .xip import Reference, Region

NEW = ".new"  # suffix of staged files, see on_board.py
ADVICE = "remove files there; for a smaller model, mpconnxr advise tries options of the converter"
_BLOCK = 4096  # bytes: smallest allocation of boards' flash file systems


@dataclass
class Changes:
    """Work to be done on a board's files.

    Attributes:
        copy: files that the board lacks, or has with other contents.
        staged: those of them that an interrupted copy left complete under their temporary names.
        same: paths with the right contents already, temporary names included.
        local: {path to write: path on the board with the same contents}.
        removable: paths that may be removed before the first file is copied.
        late: paths that are staged but get their names only later.
        kept: files that are right already.
    """

    copy: list[File]
    staged: list[File]
    same: set[str]
    local: dict[str, str] = field(default_factory=dict)
    removable: list[str] = field(default_factory=list)
    late: set[str] = field(default_factory=set)
    kept: list[File] = field(default_factory=list)

    @property
    def sent(self) -> list[File]:
        """Files that come from this computer."""
        return [f for f in self.copy if f.path not in self.local]

    @property
    def nbytes(self) -> int:
        """Bytes to send."""
        return sum(len(f.data) for f in self.sent)

    @property
    def files(self) -> list[File]:
        """All files, right already or to be copied."""
        return self.copy + self.kept

    def with_file(self, device: Device, file: File, sizes: dict[str, int]) -> Changes:
        """Add one more file, which comes last; return self."""
        more = compare(device, [file], sizes)
        self.copy += more.copy
        self.staged += more.staged
        self.kept += more.kept
        self.same |= more.same
        return self

    def replaces(self, sizes: dict[str, int]) -> bool:
        """Return True if existing files would change or go.

        Args:
            sizes: {path: bytes} of the files on the board.
        """
        return any(f.stale for f in self.files) or any(f.path in sizes for f in self.copy)


def compare(device: Device, files: list[File], sizes: dict[str, int]) -> Changes:
    """Return the changes that bring files to a board.

    Args:
        device: the board, which computes the digests of files of equal size.
        files: the files that it shall have.
        sizes: {path: bytes} of the files that it has.
    """
    files = [replace(f, stale=tuple(p for p in f.stale if p in sizes)) for f in files]
    contents = {path: f.data for f in files for path in (f.path, f.path + NEW)}
    alike = {path: len(data) for path, data in contents.items() if sizes.get(path) == len(data)}
    digests = device.digests(alike).items()
    same = {path for path, digest in digests if digest == Digest.of(contents[path])}
    copy = [f for f in files if f.path not in same]
    staged = [f for f in copy if f.path + NEW in same]
    return Changes(copy, staged, same, kept=[f for f in files if f.path in same])


def check_space(
    device: Device, changes: Changes, folder: str, sizes: dict[str, int], advice: str = ADVICE
) -> None:
    """Check that the files to copy fit beside the files that they replace.

    Args:
        device: the board.
        changes: the files to copy, and those that may be removed.
        folder: a folder in the file system of the files.
        sizes: sizes of the board's files, by path.
        advice: end of the error's message: what the user can do.

    Raises:
        DeployError: if the files do not fit.
    """
    free, unit = device.space(folder)
    unit = max(unit, 1) if unit <= _BLOCK else _BLOCK

    def room(nbytes):
        return -(-nbytes // unit) * unit

    required = sum(room(len(f.data)) for f in changes.copy if f not in changes.staged)
    free += sum(room(sizes[path]) for path in changes.removable if path in sizes)
    if required > free:
        raise DeployError(
            f"{required:,} bytes to copy, {free:,} free on the board in {folder}: {advice}"
        )


def bring(device: Device, files: list[File], folder: str, by: str) -> None:
    """Copy the files that the board lacks.

    Args:
        device: the board.
        files: the files.
        folder: a folder in their file system.
        by: name of the command, for the progress.

    Raises:
        DeployError: if there is too little space.
    """
    sizes = device.sizes({f.path.rpartition("/")[0] or "/" for f in files})
    changes = compare(device, files, sizes)
    check_space(device, changes, folder, sizes)
    copy(device, changes, by)


def waiting(
    what: str, nbytes: int | None = None, by: str = "flash"
) -> AbstractContextManager[Progress]:
    """Show progress while the board works: an emulated one takes minutes."""
    return progress(by, what, nbytes, "B")


def clear(device: Device, changes: Changes) -> None:
    """Remove the files that may go."""
    for path in changes.removable:
        device.remove(path)  # if it is there


def program(region: Region, reference: Reference, data: bytes) -> None:
    """Write a model to flash that no file system uses, and show progress.

    Args:
        region: the flash.
        reference: the part of the region to write to.
        data: the model.
    """
    with waiting("writing the model to flash", len(data)) as bar:
        region.write(reference, data, bar.update)


def write_image(partition: Partition, image: bytes) -> None:
    """Write a ROMFS image."""
    with waiting("writing the ROMFS", len(image)) as bar:
        partition.write(image, bar.update)


def copy(device: Device, changes: Changes, by: str = "flash") -> None:
    """Copy each file: stage it, give it its name, and remove the stale files that it replaces.

    Args:
        device: the board.
        changes: the files to copy. Files in `late` are staged only.
        by: name of the command, for the progress.
    """
    nbytes = changes.nbytes
    with waiting("copying", nbytes, by) as bar, device.copying(nbytes) as files:
        for i, f in enumerate(changes.copy, 1):
            bar.describe(f"copying file {i} of {len(changes.copy)}")
            if f in changes.staged:
                bar.update(len(f.data))
            elif f.path in changes.local:
                files.duplicate(changes.local[f.path], f.path, f.data)
            else:
                files.stage(f.path, f.data, bar.update)
            if f.path not in changes.late:
                files.put(f.path, f.stale)
        for f in changes.kept:
            for path in f.stale:
                files.remove(path)
