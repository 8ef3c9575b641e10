"""Two slots for a model on a board, and a pointer to the active one: see mpconnxr/slots.py.

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
        path = PurePosixPath(self.path)
        return str(path.with_name(f"{path.stem}.{slot}{path.suffix}"))

    @property
    def pointer(self) -> str:
        return str(PurePosixPath(self.path).with_suffix(".active"))

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
            raise DeployError(f"{self.path} was copied by hand and is what is loaded: remove it")
        if self.present != "ab":
            raise DeployError(f"the board holds no earlier {self.path}")
        return self.free

    def activate(self, device: Device, slot: str) -> None:
        """Turns the pointer; a file that was copied by hand goes after that."""
        if slot != self.active or self.by_hand or not self.pointed:
            device.stage(self.pointer, slot.encode(), lambda _: None)
            device.put(self.pointer, [self.path] if self.by_hand else [])


def slots_of(device: Device, path: str, sizes: dict[str, int]) -> Slots:
    """What a board has of a model; sizes: of the files there, by path."""
    slots = Slots(path, "", "", False, path in sizes)
    present = "".join(slot for slot in "ab" if slots.file(slot) in sizes)
    named = device.read(slots.pointer)[:1] if slots.pointer in sizes else ""
    pointed = named != "" and named in present
    active = named if pointed else present[:1]
    return replace(slots, present=present, active=active, pointed=pointed)
