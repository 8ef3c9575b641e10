"""Two places for the package on a board, like a model's two slots; one rename switches them.

    FOLDER/mpconnxr               place a in use
    FOLDER/mpconnxr_a/mpconnxr    place a, while b is in use
    FOLDER/mpconnxr_b/mpconnxr    place b, which FOLDER/mpconnxr.mpy leads to

MicroPython prefers a folder to a module of the same name. So place a is in use whenever it is at
its first path: the rename that moves it there, or away, is the switch. A new package is written to
the place that is not in use, completely, and verified there.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools import package

from .device import Device
from .errors import DeployError
from .transfer import NEW

NAME = package.NAME
ENTRIES = (f"{NAME}.mpy", f"{NAME}.py")  # module that leads to place b


@dataclass(frozen=True)
class Places:
    """The state of the package's two places on a board.

    Attributes:
        folder: folder from which the package is imported, without a "/" at its end.
        active: the place in use, "" if neither is.
        parked: the other place if it has a package, else "".
        elsewhere: True if without these places another package would be imported.
        entries: paths of the existing modules that lead to place b.
    """

    folder: str
    active: str
    parked: str
    elsewhere: bool
    entries: tuple[str, ...]

    @property
    def next(self) -> str:
        """The place for the next package. Only b has pointers that packages elsewhere ignore."""
        if self.active:
            return "b" if self.active == "a" else "a"
        return "b" if self.elsewhere else "a"

    def parent(self, place: str) -> str:
        """Return the folder that contains a place's package, from which it can be imported."""
        return self.folder if place == self.active == "a" else self._away(place)

    def package(self, place: str) -> str:
        """Return the folder of a place's package."""
        return f"{self.parent(place)}/{NAME}"

    def _away(self, place):
        return f"{self.folder}/{NAME}_{place}"

    def check(self, device: Device, place: str) -> None:
        """Check that the place that is not in use can be written to.

        Raises:
            DeployError: if the file system is damaged, so that both places are one folder.
        """
        here, away = f"{self.folder}/{NAME}", f"{self._away('a')}/{NAME}"
        if self.active == "a" and device.is_same_folder(here, away):
            raise DeployError(
                f"the board's file system is damaged: {here} and {away} are one folder. Repair it "
                "(fsck or chkdsk) or format it"
            )

    def empty(self, device: Device, place: str) -> None:
        """Remove the package in the place that is not in use."""
        if place == "b":
            for entry in ENTRIES:
                device.remove(f"{self.folder}/{entry}")
        device.clear(self._away(place))

    def switch(self, device: Device, place: str) -> None:
        """Put the other place in use; the module that leads to place b must be staged or exist.

        The switch is the rename of a folder or, if a was not in use before b, of a file.
        """
        here, away = f"{self.folder}/{NAME}", f"{self._away('a')}/{NAME}"
        if place == "a":
            device.move(away, here)
            device.clear(self._away("a"))  # empty now
            return
        if self.active == "a":
            device.clear(self._away("a"))
        for entry in ENTRIES:
            path = f"{self.folder}/{entry}"
            if device.kinds([path + NEW]) == [1]:
                device.put(path)
        if self.active == "a":
            device.move(here, away)


def places_of(device: Device, folder: str) -> Places:
    """Read the state of the package's places below a folder of the board."""
    at = folder.rstrip("/")
    paths = [f"{at}/{NAME}", *(f"{at}/{NAME}_{p}/{NAME}" for p in "ab")]
    in_a, parked_a, parked_b = (k == 2 for k in device.kinds(paths))
    paths = [f"{at}/{entry}" for entry in ENTRIES]
    entries = tuple(p for p, k in zip(paths, device.kinds(paths), strict=True) if k == 1)
    active = "a" if in_a else "b" if entries else ""
    parked = {"a": "b" if entries and parked_b else "", "b": "a" if parked_a else ""}
    elsewhere = not active and device.is_elsewhere(folder)
    return Places(at, active, parked.get(active, ""), elsewhere, entries)
