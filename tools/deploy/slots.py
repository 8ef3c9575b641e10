"""Two slots for a model on a board, and a pointer to the active one: see mpconnxr/io/slots.py.

A new model goes into the slot that is not active. Only when it is whole, and right, the pointer
is turned; so whatever happens on the way, the old model or the new one is there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from .device import Device, Digest
from .errors import DeployError


@dataclass(frozen=True)
class Slots:
    """A model's places on a board. path: its name for mpconnxr.load; present: which of "a", "b"
    are there; active: the one that load takes, "" if neither; pointed: the pointer says so;
    by_hand: a file of the name itself hides them.
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
        """The path of the pointer to the active slot."""
        return str(PurePosixPath(self.path).with_suffix(".active"))

    @property
    def paths(self) -> list[str]:
        """All that may be there of it."""
        return [self.path, *map(self.file, "ab"), *map(self.pinned, ("", "a", "b"))]

    @property
    def free(self) -> str:
        """The slot for the next model."""
        return "b" if self.active == "a" else "a"

    def files(self) -> dict[str, str]:
        """The slots that are there by their file, the active one first."""
        slots = sorted(self.present, key=lambda slot: slot != self.active)
        return {self.file(slot): slot for slot in slots}

    def holding(self, device: Device, data: bytes, sizes: dict[str, int]) -> str:
        """The slot that has this model already; "" if none has."""
        alike = {path: len(data) for path in self.files() if sizes[path] == len(data)}
        found = device.digests(alike).items()
        return next((self.files()[p] for p, digest in found if digest == Digest.of(data)), "")

    def other(self) -> str:
        """The slot to roll back to. Raises DeployError if there is none."""
        if self.by_hand:
            raise DeployError(f"{self.path} was copied by hand and takes precedence: remove it")
        if self.present != "ab":
            raise DeployError(f"the board holds no earlier {self.path}")
        return self.free

    def activate(self, device: Device, slot: str) -> None:
        """Turns the pointer; a file that was copied by hand goes after that."""
        if slot != self.active or self.by_hand or not self.pointed:
            self.point(device, slot)
        if self.by_hand:
            device.remove(self.path)

    def point(self, device: Device, slot: str, place: str = "") -> None:
        """Turns the pointer, or the one that counts for the package in that place alone."""
        self.stage(device, slot, place)
        device.put(self.pinned(place))

    def stage(self, device: Device, slot: str, place: str = "") -> None:
        """Writes such a pointer, which counts once it is put."""
        device.stage(self.pinned(place), slot.encode(), lambda _: None)

    def pinned(self, place: str) -> str:
        """The pointer for the package in that place; the usual one for none."""
        return f"{self.pointer}_{place}" if place else self.pointer

    def adopt(self, device: Device, slot: str) -> Slots:
        """Makes a file that was copied by hand a slot, not this one, which it still hides: the
        model that is loaded stays the same. Returns what there is then.
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
    """What a board has of a model; sizes: of the files there, by path."""
    slots = Slots(path, "", "", False, path in sizes)
    present = "".join(slot for slot in "ab" if slots.file(slot) in sizes)
    named = device.read(slots.pointer)[:1] if slots.pointer in sizes else ""
    pointed = named != "" and named in present
    active = named if pointed else present[:1]
    return replace(slots, present=present, active=active, pointed=pointed)


def settle(device: Device, place: str, sizes: dict[str, int]) -> list[str]:
    """Ends what a loss of power interrupted: pointers for one place become the usual ones, or go.

    place: of the package that is in use. Returns the pointers that went.
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
