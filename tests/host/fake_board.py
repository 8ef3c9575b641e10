"""MicroPython's unix port on a pty, in the place of a board."""

import os
import subprocess
import tty
from pathlib import Path

from tools import flash

REPL = Path(__file__).parent.parent / "device" / "board_repl.py"


class FakeBoard:
    """A MicroPython process that speaks a board's REPL; folder: its file system.

    cut: the file operation, counted from 1, in the middle of which it loses its power; fat: its
    file system does not rename onto a file that exists.
    """

    def __init__(self, executable, folder, cut=0, fat=False):
        self.folder = folder
        far, self._near = os.openpty()
        tty.setraw(self._near)
        self.port = os.ttyname(self._near)
        self._child = subprocess.Popen(
            [executable, "-X", "heapsize=256k", REPL, str(cut), "fat" * fat],
            stdin=far,
            stdout=far,
            cwd=folder,
            env=os.environ | {"MICROPYPATH": ""},
        )
        os.close(far)

    def stop(self):
        self._child.kill()
        self._child.wait()
        os.close(self._near)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def flash(self, model, *options):
        """Exit status of tools/flash.py."""
        return flash.main([str(model), "--port", self.port, *options])

    def files(self):
        paths = [p for p in self.folder.rglob("*") if p.is_file()]
        return {p.relative_to(self.folder).as_posix(): p.read_bytes() for p in paths}
