"""Copies what has changed to the board."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from tqdm import tqdm

from .code import File
from .device import Device, Digest
from .errors import DeployError
from .romfs import Partition
from .xip import Reference, Region

NEW = ".new"  # what on_board.py calls a file that is not in place yet
_BLOCK = 4096  # bytes that a file takes at least on the flash file systems of boards
# Bars are for people: none in a log.
_BAR = {"leave": False, "disable": not sys.stderr.isatty()}


@dataclass
class Changes:
    """What there is to do. copy: files that the board has not, or has otherwise; staged: those of
    them that an interrupted copy left whole; put: copy, and files that are there next to stale
    ones; spare: files that may go before the first is copied.
    """

    copy: list[File]
    staged: list[File]
    put: list[File]
    spare: list[str] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        return sum(len(f.data) for f in self.copy)


def compare(device: Device, files: list[File], sizes: dict[str, int]) -> Changes:
    """sizes: of the files on the board, by path. Digests are compared where sizes are equal."""

    wanted = {path: f.data for f in files for path in (f.path, f.path + NEW)}
    alike = {path: len(data) for path, data in wanted.items() if sizes.get(path) == len(data)}
    found = device.digests(alike).items()
    same = {path for path, digest in found if digest == Digest.of(wanted[path])}
    copy = [f for f in files if f.path not in same]
    staged = [f for f in copy if f.path + NEW in same]
    put = [f for f in files if f in copy or any(p in sizes for p in f.stale)]
    return Changes(copy, staged, put)


def check_space(device: Device, changes: Changes, folder: str, sizes: dict[str, int]) -> None:
    """Raises DeployError if what is to be copied has no room next to what it replaces."""
    free, unit = device.space(folder)
    unit = max(unit, 1) if unit <= _BLOCK else _BLOCK

    def room(nbytes):
        return -(-nbytes // unit) * unit

    wanted = sum(room(len(f.data)) for f in changes.copy if f not in changes.staged)
    free += sum(room(sizes[path]) for path in changes.spare if path in sizes)
    if wanted > free:
        raise DeployError(
            f"{wanted:,} bytes to copy, {free:,} free on the board in {folder}: remove files "
            "there, or convert with --strip, --weights int8 or --quantize int8"
        )


@contextlib.contextmanager
def waiting(what: str) -> Iterator[None]:
    """Says so while the board is at work: an emulated one is for minutes."""
    with tqdm(desc=what, bar_format="{desc}", **_BAR):
        yield


def clear(device: Device, changes: Changes) -> None:
    """Makes room."""
    for path in changes.spare:
        device.remove(path)  # if it is there


def program(region: Region, reference: Reference, data: bytes) -> None:
    """Writes a model to flash that no file system has."""
    with tqdm(total=len(data), desc="flash", unit="B", unit_scale=True, **_BAR) as bar:
        region.write(reference, data, bar.update)


def write_image(partition: Partition, image: bytes) -> None:
    """Writes a ROMFS."""
    with tqdm(total=len(image), desc="ROMFS", unit="B", unit_scale=True, **_BAR) as bar:
        partition.write(image, bar.update)


def copy(device: Device, changes: Changes) -> None:
    """Stages all files, then gives them their names: little time passes between new and old."""
    with tqdm(total=changes.nbytes, unit="B", unit_scale=True, **_BAR) as bar:
        for f in changes.copy:
            bar.set_description(f.path.rpartition("/")[2])
            if f in changes.staged:
                bar.update(len(f.data))
            else:
                device.stage(f.path, f.data, bar.update)
    for f in changes.put:
        if f in changes.copy:
            device.put(f.path, f.stale)
        else:
            for path in f.stale:
                device.remove(path)
