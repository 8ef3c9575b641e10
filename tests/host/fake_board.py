"""A fake board: MicroPython's unix port on a pty."""

import ast
import os
import subprocess
import tty
from pathlib import Path

from tools import flash

REPL = Path(__file__).parent.parent / "device" / "board_repl.py"


class FakeBoard:
    """A MicroPython process that speaks a board's REPL.

    Attributes:
        folder: its file system.
        cut: the file operation, counted from 1, in the middle of which it loses its power.
        full: the write, counted from 1, from which on the file system is full.
        journal: a file that records all file operations, see Journal.
        fat: its file system does not rename onto an existing file.
        swap: the reset, counted from 1, after which another board answers.
        heap: its size; a reset empties it less well than a board's.
    """

    def __init__(
        self, executable, folder, cut=0, fat=False, full=0, journal="", swap=0, heap="256k"
    ):
        self.folder = folder
        far, self._near = os.openpty()
        tty.setraw(self._near)
        self.port = os.ttyname(self._near)
        self._child = subprocess.Popen(
            [
                executable,
                "-X",
                f"heapsize={heap}",
                REPL,
                f"cut={cut}",
                f"full={full}",
                f"swap={swap}",
            ]
            + [f"journal={journal}"] * bool(journal)
            + ["fat"] * fat,
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
        """Return the exit status of tools/flash.py for the model with its kernels."""
        return self.deploy(model, "--interpret", *options)

    def deploy(self, model, *options):
        """Return the exit status of tools/flash.py for the model, as a program if possible."""
        return flash.main([str(model), "--port", self.port, *options])

    def files(self):
        paths = [p for p in self.folder.rglob("*") if p.is_file()]
        return {p.relative_to(self.folder).as_posix(): p.read_bytes() for p in paths}


class Journal:
    """The file operations of a board, which can be repeated one by one in another folder."""

    def __init__(self, path, folder):
        """Read a journal, whose absolute paths belong to the board's folder."""
        self.operations = [ast.literal_eval(line) for line in path.read_text().splitlines()]
        self._folder = folder

    def states(self, folder):
        """Bring a copy of the board's first files to each state that a power cut may leave.

        Yields (n, operation, is done); a write is also done by half.
        """
        for n, (name, *args) in enumerate(self.operations, 1):
            if name == "write":
                path, data = self._here(args[0], folder), args[1]
                whole = path.read_bytes() + data
                path.write_bytes(whole[: len(whole) - len(data) + len(data) // 2])
                yield n, (name, *args), False
                path.write_bytes(whole)
            else:
                self._do(name, [self._here(path, folder) for path in args])
            yield n, (name, *args), True

    def _here(self, path, folder):
        return folder / Path(path).relative_to(self._folder if path.startswith("/") else "")

    def _do(self, name, paths):
        if name == "open":
            paths[0].write_bytes(b"")
        elif name != "close":
            getattr(os, name)(*paths)
