"""Boards that users update from release to release, with the tools of each release."""

import os
import shutil
import subprocess
from dataclasses import dataclass

from onnx import TensorProto, helper

from tests.host import generations
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
    """What a user has at a time: the package's generation, the format, the model's operator."""

    generation: int
    version: int
    operator: str

    @property
    def says(self):
        """What PROGRAM prints."""
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
    """A model.bin of one operator over two numbers."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in "xy")
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "g", [x], [y])
    opsets = [helper.make_opsetid("", 17)]
    return convert(helper.make_model(graph, opset_imports=opsets, ir_version=8)).data


class Bench:
    """Boards one after another, over one file system."""

    def __init__(self, executable, tmp_path, models, packages, monkeypatch):
        self.executable, self.models, self.packages = executable, models, packages
        self.model, self.folder = tmp_path / "model.bin", tmp_path / "board"
        self.monkeypatch = monkeypatch
        self.folder.mkdir()

    def flash(self, release, *options, **board):
        """Exit status of tools/flash.py as a release has it, on a board of these properties."""
        data = generations.in_format(self.models[release.operator], release.version)
        self.model.write_bytes(data)
        with self.monkeypatch.context() as patch:
            kind = (release.generation, release.version)
            generations.be(patch, self.packages[kind], release.version)
            with FakeBoard(self.executable, self.folder, **board) as fake:
                return fake.flash(self.model, *options)

    def says(self, folder=None):
        """What PROGRAM prints after a reset."""
        return self.runs(PROGRAM, folder)

    def runs(self, program, folder=None):
        """What a program on the board prints, or its traceback."""
        done = subprocess.run(
            [self.executable, "-c", program],
            cwd=folder or self.folder,
            env=os.environ | {"MICROPYPATH": ":lib"},
            capture_output=True,
            text=True,
        )
        return done.stdout.strip() or done.stderr

    def begin(self, *releases):
        """A board that had these one after the other; returns a copy of its files."""
        for release in releases:
            assert self.flash(release) == 0
            assert self.says() == release.says
        before = self.folder.with_name("before")
        shutil.copytree(self.folder, before)
        return before

    def set(self, folder):
        shutil.rmtree(self.folder)
        shutil.copytree(folder, self.folder)
