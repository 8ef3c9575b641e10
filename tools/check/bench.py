"""Run scripts and models in a separate folder on a board; deployed files stay."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.deploy import boards, transfer
from tools.deploy.code import File
from tools.deploy.deployment import machine_of
from tools.deploy.device import Device, Verified
from tools.deploy.errors import DeployError
from tools.deploy.modules import Package
from tools.machine import Machine

_FOLDER = "mpconnxr_check"
_SILENCE = 600  # s; large loops take long without native code


class Bench:
    """A folder on a connected board, in which scripts and models run.

    Methods raise DeployError if there is too little space, BoardError if code on the board fails.

    Attributes:
        about: properties of the board.
        board: its description in boards/, None for an unknown board.
        machine: code that it can run; None if its firmware does not load our .mpy files.
        folder: path of the folder.
    """

    def __init__(self, device: Device):
        self._device = device
        self.about = device.about()
        known = boards.load_boards()
        self.board = boards.board_of(self.about.machine, self.about.platform, known)
        self.machine: Machine | None = machine_of(self.about, self.board)
        if self.board and self.board.unable:
            raise DeployError(f"{self.board.title}: {self.board.unable}")
        self.folder = f"{self.about.folder.rstrip('/')}/{_FOLDER}"

    @contextlib.contextmanager
    def cleared(self) -> Iterator[None]:
        """Remove the folder at the end of the context."""
        try:
            yield
        finally:
            with contextlib.suppress(DeployError):  # the first error matters
                self._device.reset()
                self._device.clear(self.folder)

    def bring(self, files: Mapping[str, bytes]) -> None:
        """Copy files to the folder, except those that are already in it."""
        there = [File(path, data).under(self.folder) for path, data in files.items()]
        self._device.reset()
        transfer.bring(self._device, there, self.about.folder, "check")

    def run(self, script: Path, arguments: list[str]) -> list[str]:
        """Run a script in the folder; return the lines that it prints."""
        start = f"import os, sys\nos.chdir({self.folder!r})\nsys.path.insert(0, {self.folder!r})\n"
        start += f"sys.argv[:] = {['script', *arguments]!r}\n"
        self._device.reset()
        with transfer.waiting("the board computes", by="check"):
            lines = self._device.execute(start + script.read_text(), _SILENCE).splitlines()
        self._device.execute(f"os.chdir({self.about.folder!r})")
        return lines

    def verify(self, name: str) -> Verified:
        """Run the golden vectors of a model in the folder."""
        with transfer.waiting(f"the board verifies {name}", by="check"):
            return self._device.verify(self.folder, f"{self.folder}/{name}", _SILENCE)

    @property
    def package(self) -> Package:
        """The device package."""
        return Package()
