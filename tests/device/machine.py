"""A machine that runs the scripts of these tests: an emulator, or a board on a serial port."""

from __future__ import annotations

from tools.deploy.device import Device, Digest
from tools.machine import Machine
from tools.micropython import Target

FOLDER = "mpconnxr_test"  # on a board
# Runs on the machine: copies a file or folder to its own file system. An emulator's files are
# mapped, and would be used in place.
COPY = """
import os


def copy(name):
    if os.stat(name)[0] & 0x4000:
        os.mkdir("/" + name)
        for inner in os.listdir(name):
            copy(name + "/" + inner)
        return
    piece = memoryview(bytearray(4096))
    with open(name, "rb") as f, open("/" + name, "wb") as g:
        while n := f.readinto(piece):
            g.write(piece[:n])
"""
_OF_EMULATOR = 300  # s; the longest script takes a tenth
_OF_BOARD = 1800  # s, one without native code


class EmulatedMachine:
    """A target of tools.micropython.

    Attributes:
        kind: the code that it can run.
    """

    def __init__(self, target: Target):
        self.target = target
        self.name = target.name
        self.kind = Machine.for_arch(target.arch)

    def run(self, script: str, files: dict[str, bytes], timeout: float = _OF_EMULATOR) -> str:
        """Return the output of a script, which must succeed; its folder has the files."""
        completed = self.target.run(script, files=files, timeout=timeout)
        assert not completed.returncode and not completed.stderr, (
            completed.stdout[-2000:] + completed.stderr
        )
        return completed.stdout


class SerialMachine:
    """A board on a serial port; files stay in FOLDER, and only those that differ are copied."""

    def __init__(self, port: str):
        self.name = port
        self._device = Device(port)

    def __enter__(self) -> SerialMachine:
        self._device.__enter__()
        about = self._device.about()
        self.kind = Machine.of(about.mpy, about.assemblers)
        self._folder = f"{about.folder.rstrip('/')}/{FOLDER}"
        return self

    def __exit__(self, *error) -> None:
        self._device.__exit__(*error)

    def run(self, script: str, files: dict[str, bytes], timeout: float = _OF_BOARD) -> str:
        folder = self._folder
        start = f"import os, sys\nos.chdir({folder!r})\nsys.path.insert(0, {folder!r})\n"
        paths = {f"{folder}/{name}": data for name, data in files.items()}
        self._device.reset()
        result = self._device.digests({path: len(data) for path, data in paths.items()})
        for path, data in paths.items():
            if result[path] != Digest.of(data):
                self._device.stage(path, data, lambda n: None)
                self._device.put(path)
        self._device.reset()
        return self._device.execute(start + script, timeout).replace("\r\n", "\n")
