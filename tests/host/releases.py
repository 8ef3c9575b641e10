"""Boards that users update from release to release, with the tools of each release."""

import os
import shutil
import subprocess
from dataclasses import dataclass

from tests.host import generations
from tests.host.device import small
from tests.host.fake_board import FakeBoard
from tools.converter.convert import convert
from tools.format import layout

NOW, NEXT = layout.VERSION, layout.VERSION + 1  # of the file format
PROGRAM = """
import mpconnxr
print(list(mpconnxr.load('model.bin').run([1.0, -2.0])[0].data), mpconnxr.GENERATION)
"""


@dataclass(frozen=True)
class Release:
    """A user's state: the package's generation, the format, the model's operator."""

    generation: int
    version: int
    operator: str

    @property
    def prints(self):
        """The output that PROGRAM prints with this release."""
        return f"{RESULTS[self.operator]} {self.generation}"


RESULTS = {"Neg": "[-1.0, 2.0]", "Abs": "[1.0, 2.0]", "Floor": "[1.0, -2.0]"}
EARLIER = Release(1, NOW, "Floor")
OLD = Release(2, NOW, "Neg")
UPDATES = {
    "model": Release(2, NOW, "Abs"),
    "code": Release(3, NOW, "Neg"),
    "both": Release(3, NOW, "Abs"),
    "format": Release(3, NEXT, "Abs"),
}
ALL = (EARLIER, OLD, *UPDATES.values())


def model_of(operator):
    """Return a model.bin of one operator over two numbers."""
    x, y = (small.value(n, [2]) for n in "xy")
    return convert(small.model([(operator, "x", "y", {})], [x], [y])).data


class Bench:
    """A sequence of boards over one file system."""

    def __init__(self, executable, tmp_path, models, packages, monkeypatch):
        self.executable, self.models, self.packages = executable, models, packages
        self.model, self.folder = tmp_path / "model.bin", tmp_path / "board"
        self.monkeypatch = monkeypatch
        self.folder.mkdir()

    def flash(self, release, *options, **board):
        """Run a release's tools/flash.py on a board; return its exit status."""
        data = generations.in_format(self.models[release.operator], release.version)
        self.model.write_bytes(data)
        with self.monkeypatch.context() as patch:
            kind = (release.generation, release.version)
            generations.be(patch, self.packages[kind], release.version)
            with FakeBoard(self.executable, self.folder, **board) as fake:
                return fake.flash(self.model, *options)

    def prints(self, folder=None):
        """Reset the board and return the output of PROGRAM."""
        return self.runs(PROGRAM, folder)

    def runs(self, program, folder=None):
        """Run a program on the board; return its output, or its traceback."""
        completed = subprocess.run(
            [self.executable, "-c", program],
            cwd=folder or self.folder,
            env=os.environ | {"MICROPYPATH": ":lib"},
            capture_output=True,
            text=True,
        )
        return completed.stdout.strip() or completed.stderr

    def begin(self, *releases):
        """Deploy releases to the board, one after another; return a copy of its files."""
        for release in releases:
            assert self.flash(release) == 0
            assert self.prints() == release.prints
        before = self.folder.with_name("before")
        shutil.copytree(self.folder, before)
        return before

    def set(self, folder):
        shutil.rmtree(self.folder)
        shutil.copytree(folder, self.folder)
