"""Two slots for a model on a board: updates, rollback, and power cuts between."""

import itertools
import os
import shutil
import subprocess

import pytest

from tests.host.fake_board import FakeBoard
from tests.host.releases import model_of
from tools.deploy import device as devices

LOAD = "import mpconnxr\nprint(list(mpconnxr.load('model.bin').run([1.0, -2.0])[0].data))"


@pytest.fixture(scope="module")
def models():
    """Return model files by the printed output for [1, -2]."""
    return {
        "[-1.0, 2.0]": model_of("Neg"),
        "[1.0, 2.0]": model_of("Abs"),
        "[1.0, -2.0]": model_of("Floor"),
    }


@pytest.fixture(autouse=True)
def _does_not_wait_long(monkeypatch):
    monkeypatch.setattr(devices, "_SILENCE", 3)


@pytest.fixture
def executable(ready_target):
    return ready_target("unix32").build()


@pytest.fixture
def bench(executable, tmp_path, models):
    return Bench(executable, tmp_path, models)


class Bench:
    """A sequence of boards over one file system."""

    def __init__(self, executable, tmp_path, models):
        self.executable, self.models = executable, models
        self.model, self.folder = tmp_path / "model.bin", tmp_path / "board"
        self.folder.mkdir()

    def flash(self, made, *options, cut=0, fat=False):
        self.model.write_bytes(self.models[made])
        with FakeBoard(self.executable, self.folder, cut, fat) as board:
            return board.flash(self.model, *options)

    def loads(self):
        """Return what a run of the model on the board prints."""
        command = [self.executable, "-c", LOAD]
        path = os.environ | {"MICROPYPATH": ""}
        completed = subprocess.run(
            command, cwd=self.folder, env=path, capture_output=True, text=True
        )
        return completed.stdout.strip() or completed.stderr

    def names(self):
        return {p.name for p in self.folder.rglob("model.*")} - {"model.mpy", "model.py"}


@pytest.mark.slow
def test_models_alternate_between_two_slots(bench, capsys):
    neg, absolute, floor = bench.models
    for made, slot in ((neg, "a"), (absolute, "b"), (floor, "a"), (floor, "a")):
        assert bench.flash(made) == 0
        assert bench.loads() == made
        assert (bench.folder / "model.active").read_text() == slot
    assert "copied    0 of" in capsys.readouterr().out
    assert bench.flash(floor, "--rollback") == 0
    assert bench.loads() == absolute
    assert bench.flash(floor, "--rollback") == 0
    assert bench.loads() == floor
    assert bench.flash(absolute) == 0  # still in the other slot
    assert "copied    0 of" in capsys.readouterr().out
    assert bench.loads() == absolute
    assert bench.names() == {"model.a.bin", "model.b.bin", "model.active"}


@pytest.mark.slow
def test_a_wrong_model_is_not_activated(bench, monkeypatch, capsys):
    neg, absolute, _ = bench.models
    assert bench.flash(neg) == 0
    wrong = devices._VERIFY.replace("int(r.ok)", "0")
    with monkeypatch.context() as patch:
        patch.setattr(devices, "_VERIFY", wrong)
        assert bench.flash(absolute) == 1
    out = capsys.readouterr().out
    assert "NOT verified" in out and "model.a.bin as before" in out
    assert bench.loads() == neg
    assert bench.flash(absolute, "--no-verify") == 0
    assert bench.loads() == absolute


def test_rollback_needs_an_earlier_model(bench, capsys):
    neg = next(iter(bench.models))
    assert bench.flash(neg) == 0
    assert bench.flash(neg, "--rollback") == 1
    assert "holds no earlier" in capsys.readouterr().err


def test_a_model_copied_by_hand_is_used_until_the_next_update(bench, capsys):
    neg, absolute, floor = bench.models
    assert bench.flash(neg) == 0
    (bench.folder / "model.bin").write_bytes(bench.models[absolute])
    assert bench.loads() == absolute
    assert bench.flash(absolute, "--rollback") == 1
    assert "copied by hand" in capsys.readouterr().err
    assert bench.flash(floor) == 0
    assert bench.loads() == floor
    assert "model.bin" not in bench.names()


def test_leftovers_of_an_interrupted_copy_are_used_or_removed(bench, capsys):
    neg, absolute, _ = bench.models
    assert bench.flash(neg) == 0
    (bench.folder / "model.b.bin.new").write_bytes(bench.models[absolute])
    (bench.folder / "mpconnxr" / "model.mpy.new").write_bytes(b"half")
    assert bench.flash(absolute) == 0
    assert bench.loads() == absolute
    assert not list(bench.folder.rglob("*.new"))


@pytest.mark.slow
@pytest.mark.parametrize("fat", [False, True])
def test_a_power_cut_at_any_operation_leaves_a_model(fat, bench, capsys):
    """The old model or the new one loads; a second call ends the update."""
    neg, absolute, floor = bench.models
    assert bench.flash(neg) == 0
    assert bench.flash(absolute) == 0
    before = bench.folder.with_name("before")
    shutil.copytree(bench.folder, before)
    seen = []
    for cut in itertools.count(1):
        if bench.flash(floor, "--no-verify", cut=cut, fat=fat) == 0:
            break
        seen.append(bench.loads())
        assert seen[-1] in (absolute, floor), cut
        assert bench.flash(floor, "--no-verify") == 0
        assert bench.loads() == floor
        shutil.rmtree(bench.folder)
        shutil.copytree(before, bench.folder)
    assert len(seen) >= 8 and seen[0] == absolute
