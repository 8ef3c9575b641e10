"""A model's two slots on a board, and the pointer to the active one: see mpconnxr/io/slots.py.

A new model goes into the slot that is not active. The pointer changes only when the model is
complete and verified; so at any time the board has the old model or the new one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from .device import Device, Digest
from .errors import DeployError

_NAME = re.compile(r"\w[\w .+,()=@~-]*\.bin")
_MAX_NAME_NBYTES = 200  # bytes in UTF-8: file systems take 255, slots add a suffix


@dataclass(frozen=True)
class Slots:
    """The state of a model's slots on a board.

    Attributes:
        path: the model's name for mpconnxr.load.
        present: the existing slots: "", "a", "b" or "ab".
        active: the slot that load takes, "" if neither.
        pointed: True if the pointer names the active slot.
        by_hand: True if a file with the model's own name hides the slots.
    """

    path: str
    present: str
    active: str
    pointed: bool
    by_hand: bool

    def file(self, slot: str) -> str:
        """Return the path of a slot's file."""
        path = PurePosixPath(self.path)
        return str(path.with_name(f"{path.stem}.{slot}{path.suffix}"))

    @property
    def pointer(self) -> str:
        """Path of the pointer to the active slot."""
        return str(PurePosixPath(self.path).with_suffix(".active"))

    @property
    def paths(self) -> list[str]:
        """Paths of all files that a model may have on the board."""
        return [self.path, *map(self.file, "ab"), *map(self.pinned, ("", "a", "b"))]

    @property
    def free(self) -> str:
        """The slot for the next model."""
        return "b" if self.active == "a" else "a"

    def files(self) -> dict[str, str]:
        """Return the existing slots by file, the active one first."""
        slots = sorted(self.present, key=lambda slot: slot != self.active)
        return {self.file(slot): slot for slot in slots}

    def holding(self, device: Device, data: bytes, sizes: dict[str, int]) -> str:
        """Return the slot that holds a model already; "" if none does.

        Args:
            device: the board.
            data: the model.
            sizes: sizes of the board's files, by path.
        """
        alike = {path: len(data) for path in self.files() if sizes[path] == len(data)}
        digests = device.digests(alike).items()
        return next((self.files()[p] for p, digest in digests if digest == Digest.of(data)), "")

    def other(self) -> str:
        """Return the slot to roll back to. Raises DeployError if the board has none."""
        if self.by_hand:
            raise DeployError(f"{self.path} was copied by hand and takes precedence: remove it")
        if self.present != "ab":
            raise DeployError(f"the board holds no earlier {self.path}")
        return self.free

    def activate(self, device: Device, slot: str) -> None:
        """Point to a slot, then remove a file that was copied by hand."""
        if slot != self.active or self.by_hand or not self.pointed:
            self.point(device, slot)
        if self.by_hand:
            device.remove(self.path)

    def point(self, device: Device, slot: str, place: str = "") -> None:
        """Point to a slot: for every package, or only for the package in a place."""
        self.stage(device, slot, place)
        device.put(self.pinned(place))

    def stage(self, device: Device, slot: str, place: str = "") -> None:
        """Write the pointer under its temporary name; Device.put gives it its own, and it counts.

        Args:
            device: the board.
            slot: the slot to point to.
            place: place of the package for which the pointer counts; "" for every package.
        """
        device.stage(self.pinned(place), slot.encode(), lambda _: None)

    def pinned(self, place: str) -> str:
        """Return the path of the pointer for the package in a place; of the common one for ""."""
        return f"{self.pointer}_{place}" if place else self.pointer

    def adopt(self, device: Device, slot: str) -> Slots:
        """Turn a file that was copied by hand into the slot other than `slot`.

        load still takes the same model.

        Returns:
            The state of the slots afterwards.
        """
        if not self.by_hand:
            return self
        other = "ab".replace(slot, "")
        device.remove(self.file(other))
        self.point(device, other)
        device.move(self.path, self.file(other))
        present = "".join(sorted(set(self.present) | {other}))
        return replace(self, present=present, active=other, pointed=True, by_hand=False)


def slots_of(device: Device, path: str, sizes: dict[str, int]) -> Slots:
    """Read the state of a model's slots on a board.

    Args:
        device: the board.
        path: the model's name for mpconnxr.load.
        sizes: {path: bytes} of the files on it.
    """
    slots = Slots(path, "", "", False, path in sizes)
    present = "".join(slot for slot in "ab" if slots.file(slot) in sizes)
    named = device.read(slots.pointer)[:1] if slots.pointer in sizes else ""
    pointed = named != "" and named in present
    active = named if pointed else present[:1]
    return replace(slots, present=present, active=active, pointed=pointed)


def settle(device: Device, place: str, sizes: dict[str, int]) -> list[str]:
    """Finish an interrupted update: pointers for the place in use become the common ones.

    Pointers for the other place are removed.

    Args:
        device: the board.
        place: the package's place in use.
        sizes: {path: bytes} of the files on it.

    Returns:
        The paths of the pointers that were removed.
    """
    pins = [path for path in sizes if path.endswith((".active_a", ".active_b"))]
    for path in pins:
        pointer, _, of = path.rpartition("_")
        slot = device.read(path)[:1]
        if of == place and slot:
            device.stage(pointer, slot.encode(), lambda _: None)
            device.put(pointer)
        device.remove(path)
    return pins


def name_problem(name: str) -> str:
    """Return why a model's file cannot have a name on a board; "" if it can."""
    if not _NAME.fullmatch(name):
        return "a model's name on a board is letters, digits and _ . - and ends in .bin"
    if len(name.encode()) > _MAX_NAME_NBYTES:
        return f"a model's name on a board has at most {_MAX_NAME_NBYTES} bytes"
    stem = PurePosixPath(name).stem
    if stem.lower().endswith((".a", ".b")):
        return f"{name} is the name of a slot of {stem[:-2]}.bin"
    if stem != stem.rstrip(" ."):
        return "a model's name on a board has no space or dot before .bin"
    return ""


def differing_in_case(paths: Iterable[str], there: Iterable[str]) -> str:
    """Return a path on the board that differs from one of `paths` only in case; "" for none."""
    lower = {path.lower(): path for path in paths}
    return next((p for p in there if lower.get(p.lower(), p) != p), "")
