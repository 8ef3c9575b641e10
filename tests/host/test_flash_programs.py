"""tools/flash.py deploys models as programs to a fake board."""

import os
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace

import pytest

from examples.digits.demo import HERE
from tests.host.device import small
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

    def prints(self, folder=None, program=PROGRAM):
        completed = subprocess.run(
            [self.executable, "-c", program],
            cwd=folder or self.folder,
            env=os.environ | {"MICROPYPATH": ":lib"},
            capture_output=True,
            text=True,
        )
        return completed.stdout.strip() or completed.stderr

    def programs(self):
        """Return the names of the programs whose files are complete."""
        results = {p.stem for p in self.folder.glob("mpconnxr*/**/programs/*")}
        names = {name for name in results if not name.endswith("_steps")}
        assert results == names | {f"{name}_steps" for name in names}
        return names


@pytest.fixture
def bench(executable, tmp_path):
    return Bench(executable, tmp_path)


def test_a_model_of_fixed_shapes_becomes_a_program(bench, capsys):
    digits = convert(HERE / "digits.onnx").data
    assert bench.deploy(digits) == 0
    out = capsys.readouterr().out
    assert (
        "\nmodel     as a program, made on this computer: " in out and "\nverified: error " in out
    )
    assert "\nfits      needs " in out and " KB of this board's heap: " in out
    assert not (bench.folder / "mpconnxr/ops").exists()
    assert bench.deploy(digits) == 0
    assert "copied    0 of " in capsys.readouterr().out
    assert bench.deploy(digits, "--interpret") == 0
    out = capsys.readouterr().out
    assert (
        "\nmodel     with its kernels, which take more memory than a program: --interpret\n" in out
        and "\nverified: error " in out
    )
    assert (bench.folder / "mpconnxr/ops/block_gemm.mpy").exists()  # beside it: nothing differs


def test_programs_are_updated_and_rolled_back(bench, capsys):
    assert bench.deploy("Neg") == 0 and bench.prints() == NEG
    assert bench.deploy("Abs") == 0 and bench.prints() == ABS
    assert len(bench.programs()) == 2  # that of the model before is there for a rollback
    assert bench.deploy("Abs", "--rollback") == 0 and bench.prints() == NEG
    # The one that no model has any more goes.
    assert bench.deploy("Floor") == 0 and bench.prints() == "Program [1.0, -2.0]"
    assert len(bench.programs()) == 2
    assert bench.deploy("Floor", "--rollback") == 0 and bench.prints() == NEG


SENSING = """
import mpconnxr
from mpconnxr import smoothing, spectrum, windows
model = mpconnxr.load("model.bin")
window = windows.Window(model.inputs[0].data, 2)
average = smoothing.Average(model.outputs[0], 2)
made = spectrum.Spectrum(50, 16, 2)
made.samples[3], out = 1000, [0, 0]
made.write(out)
for sample in ((1, -2), (3, 4)):
    if window.push(sample):
        model.run()
        print(type(model).__name__, average.update(), min(out) > 0)
"""
SENSED = "Program 1 True\nProgram 1 True"


def test_a_program_gets_the_modules_that_a_user_requests(bench, capsys):
    """It gets no kernels for them, and keeps them when the code is updated."""
    requests = [f"--with={name}" for name in ("windows", "smoothing", "spectrum")]
    assert bench.deploy("Neg") == 0
    [without] = re.findall(r"fits      needs ([\d.]+)", capsys.readouterr().out)
    assert not (bench.folder / "mpconnxr" / "signal").exists()
    assert bench.deploy("Neg", *requests) == 0 and bench.prints(program=SENSING) == SENSED
    out = capsys.readouterr().out
    assert "as a program, made on this computer: " in out
    assert float(re.findall(r"fits      needs ([\d.]+)", out)[0]) > float(without)
    signal = bench.folder / "mpconnxr" / "signal"
    assert {p.name for p in signal.iterdir()} == {
        "windows.mpy",
        "smoothing.mpy",
        "spectrum.mpy",
    }
    assert not (bench.folder / "mpconnxr" / "ops").exists()
    (bench.folder / "mpconnxr" / "public.mpy").write_bytes(b"of an earlier release")
    assert bench.deploy("Neg") == 0
    assert (bench.folder / "mpconnxr_b" / "mpconnxr" / "signal" / "windows.mpy").exists()
    assert bench.prints(program=SENSING) == SENSED


def test_a_model_that_cannot_be_a_program_gets_kernels(bench, capsys):
    x, y = (small.value(n, ["n", 2]) for n in "xy")
    model = small.model([("Neg", "x", "y", {})], [x], [y])
    assert bench.deploy(convert(model, Options(bounds={"n": 3})).data, "--no-verify") == 0
    assert " than a program: shapes that a run decides\n" in capsys.readouterr().out


def test_a_board_with_programs_alone_says_so(bench):
    assert bench.deploy("Neg") == 0
    message = bench.prints(program="import mpconnxr\nmpconnxr.load('model.bin', prefer='plain')")
    assert "UnsupportedError: the board has just programs, and none for this call" in message


def test_a_program_that_computes_otherwise_is_not_activated(bench, monkeypatch, capsys):
    """Its calls are those of another model, whose file has the same size."""
    assert bench.deploy("Neg") == 0
    original = build.table
    ended = bytes([255])  # the end of a run
    monkeypatch.setattr(build, "table", lambda *args: replace(original(*args), code=ended))
    assert bench.deploy("Abs") == 1
    assert "\nNOT verified: error " in capsys.readouterr().out
    assert bench.prints() == NEG


@pytest.mark.parametrize("fat", [False, True], ids=["littlefs", "fat"])
def test_a_power_cut_at_any_operation_leaves_a_program(bench, fat, tmp_path, capsys):
    """After an update the old program or the new one runs."""
    assert bench.deploy("Neg") == 0
    shutil.copytree(bench.folder, now := tmp_path / "now")
    path = tmp_path / "journal"
    assert bench.deploy("Abs", fat=fat, journal=path) == 0
    journal, seen = Journal(path, bench.folder), []
    for n, operation, converted in journal.states(now):
        seen.append(bench.prints(now))
        assert seen[-1] in (NEG, ABS), (n, operation, converted)
        if n % EVERY == 0 or n > len(journal.operations) - LAST and converted:
            shutil.rmtree(bench.folder)
            shutil.copytree(now, bench.folder)
            assert bench.deploy("Abs", fat=fat) == 0 and bench.prints() == ABS, (n, operation)
    print(f"{len(seen)} states: {Counter(seen)}")
    assert (seen[0], seen[-1]) == (NEG, ABS)


def test_programs_go_to_a_folder(bench, tmp_path, capsys):
    bench.model.write_bytes(model_of("Neg"))
    assert flash.main([str(bench.model), "--to", str(tmp_path / "to"), "--board", "pico"]) == 0
    assert "; as a program, " in capsys.readouterr().out
    assert list((tmp_path / "to/mpconnxr/programs").iterdir())
