"""tools/flash.py deploys models as programs: MicroPython's unix port on a pty."""

import os
import shutil
import subprocess
from collections import Counter
from dataclasses import replace

import pytest
from onnx import TensorProto, helper

from examples.digits.demo import HERE
from tests.host.fake_board import FakeBoard, Journal
from tests.host.releases import model_of
from tools import flash
from tools.converter.convert import Options, convert
from tools.deploy import device as devices
from tools.program import build

PROGRAM = """
import mpconnxr
model = mpconnxr.load("model.bin")
print(type(model).__name__, list(model.run([1.0, -2.0])[0].data))
"""
NEG, ABS = "Program [-1.0, 2.0]", "Program [1.0, 2.0]"
EVERY = 1 if os.environ.get("MPCONNXR_LONG") else 12
LAST = 6  # file operations, the switch among them


@pytest.fixture(autouse=True)
def _does_not_wait_long(monkeypatch):
    monkeypatch.setattr(devices, "_SILENCE", 3)


@pytest.fixture
def executable(ready_target):
    return ready_target("unix32").build()


class Bench:
    def __init__(self, executable, tmp_path):
        self.executable, self.folder = executable, tmp_path / "board"
        self.model = tmp_path / "model.bin"
        self.folder.mkdir()

    def deploy(self, operator, *options, **board):
        self.model.write_bytes(operator if isinstance(operator, bytes) else model_of(operator))
        with FakeBoard(self.executable, self.folder, **board) as fake:
            return fake.deploy(self.model, *options)

    def says(self, folder=None, program=PROGRAM):
        done = subprocess.run(
            [self.executable, "-c", program],
            cwd=folder or self.folder,
            env=os.environ | {"MICROPYPATH": ":lib"},
            capture_output=True,
            text=True,
        )
        return done.stdout.strip() or done.stderr

    def programs(self):
        """Names of those whose files are all there."""
        found = {p.stem for p in self.folder.glob("mpconnxr*/**/programs/*")}
        names = {name for name in found if not name.endswith("_steps")}
        assert found == names | {f"{name}_steps" for name in names}
        return names


@pytest.fixture
def bench(executable, tmp_path):
    return Bench(executable, tmp_path)


def test_a_model_of_fixed_shapes_is_a_program(bench, capsys):
    digits = convert(HERE / "digits.onnx").data
    assert bench.deploy(digits) == 0
    out = capsys.readouterr().out
    assert "\nmodel     as a program: " in out and "\nverified: error " in out
    assert "\nfits      needs " in out and " KB of this board's heap: " in out
    assert not (bench.folder / "mpconnxr/ops").exists()
    assert bench.deploy(digits) == 0
    assert "copied    0 of " in capsys.readouterr().out
    assert bench.deploy(digits, "--interpret") == 0
    out = capsys.readouterr().out
    assert "\nmodel     with its kernels: --interpret\n" in out and "\nverified: error " in out
    assert (bench.folder / "mpconnxr/ops/block_gemm.mpy").exists()  # beside it: nothing differs


def test_updates_and_rollback(bench, capsys):
    assert bench.deploy("Neg") == 0 and bench.says() == NEG
    assert bench.deploy("Abs") == 0 and bench.says() == ABS
    assert len(bench.programs()) == 2  # that of the model before is there for a rollback
    assert bench.deploy("Abs", "--rollback") == 0 and bench.says() == NEG
    # The one that no model has any more goes.
    assert bench.deploy("Floor") == 0 and bench.says() == "Program [1.0, -2.0]"
    assert len(bench.programs()) == 2
    assert bench.deploy("Floor", "--rollback") == 0 and bench.says() == NEG


def test_a_model_that_cannot_be_a_program_has_its_kernels(bench, capsys):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 2])
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert bench.deploy(convert(model, Options(bounds={"n": 3})).data, "--no-verify") == 0
    assert "\nmodel     with its kernels: shapes that a run decides\n" in capsys.readouterr().out


def test_a_board_with_programs_alone_says_so(bench):
    assert bench.deploy("Neg") == 0
    said = bench.says(program="import mpconnxr\nmpconnxr.load('model.bin', prefer='plain')")
    assert "UnsupportedError: the board has just programs, and none for this call" in said


def test_a_program_that_computes_otherwise_is_not_activated(bench, monkeypatch, capsys):
    """Its calls are those of another model, whose file is as long."""
    assert bench.deploy("Neg") == 0
    usual = build.table
    ended = bytes([255])  # the end of a run
    monkeypatch.setattr(build, "table", lambda *args: replace(usual(*args), code=ended))
    assert bench.deploy("Abs") == 1
    assert "\nNOT verified: error " in capsys.readouterr().out
    assert bench.says() == NEG


@pytest.mark.parametrize("fat", [False, True], ids=["littlefs", "fat"])
def test_power_lost_at_each_point(bench, fat, tmp_path, capsys):
    """Of an update: the old program or the new one."""
    assert bench.deploy("Neg") == 0
    shutil.copytree(bench.folder, now := tmp_path / "now")
    path = tmp_path / "journal"
    assert bench.deploy("Abs", fat=fat, journal=path) == 0
    journal, seen = Journal(path, bench.folder), []
    for n, operation, done in journal.states(now):
        seen.append(bench.says(now))
        assert seen[-1] in (NEG, ABS), (n, operation, done)
        if n % EVERY == 0 or n > len(journal.operations) - LAST and done:
            shutil.rmtree(bench.folder)
            shutil.copytree(now, bench.folder)
            assert bench.deploy("Abs", fat=fat) == 0 and bench.says() == ABS, (n, operation)
    print(f"{len(seen)} states: {Counter(seen)}")
    assert (seen[0], seen[-1]) == (NEG, ABS)


def test_a_folder_for_another_way_to_copy(bench, tmp_path, capsys):
    bench.model.write_bytes(model_of("Neg"))
    assert flash.main([str(bench.model), "--to", str(tmp_path / "to"), "--board", "pico"]) == 0
    assert "; as a program: " in capsys.readouterr().out
    assert list((tmp_path / "to/mpconnxr/programs").iterdir())
