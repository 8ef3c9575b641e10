"""python -m tools.run --profile: on a target, and on a board at a serial port."""

import json

import numpy as np
import pytest

from tests.host.device import small
from tests.host.fake_board import FakeBoard
from tools.converter.convert import convert
from tools.run.__main__ import main

DIGITS = small.ROOT / "examples" / "digits" / "digits.onnx"
NODES = ["conv0", "conv3", "gemm7", "logits"]


@pytest.fixture(autouse=True)
def _built(target):
    """Skip the tests if `unix` cannot be built."""


@pytest.fixture
def board(ready_target, tmp_path):
    folder = tmp_path / "board"
    folder.mkdir()
    fake = FakeBoard(ready_target("unix32").build(), folder)
    yield fake
    fake.stop()


def profiled(capsys, *args) -> dict:
    assert main([*map(str, args), "--profile", "--runs", "3", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def check(report):
    computed = [step for step in report["steps"] if step["kernel"] != "read weights"]
    assert [step["name"].split()[-1] for step in computed] == NODES
    assert [step["kernel"] for step in computed] == ["conv_max_pool"] * 2 + ["block_gemm"] * 2
    assert all("viper" in form for step in computed for form in step["forms"])
    assert all(step["us"] >= 0 for step in report["steps"])
    b = report["benchmark"]
    assert b["n"] == 3
    assert 0 < b["min_us"] <= b["p50_us"] <= b["p95_us"] <= b["p99_us"] <= b["max_us"]
    assert report["file_bytes"] > report["arena_bytes"] > 0


def test_onnx_and_bin_files_are_profiled_on_a_target(tmp_path, capsys):
    image = tmp_path / "x.npy"
    np.save(image, np.ones((1, 1, 8, 8), np.float32))
    check(profiled(capsys, DIGITS))
    check(profiled(capsys, DIGITS, image, "--target", "unix32"))
    model = tmp_path / "model.bin"
    model.write_bytes(convert(DIGITS).data)
    check(profiled(capsys, model, image))


def test_a_profile_is_printed_as_a_table(capsys):
    assert main([str(DIGITS), "--profile", "--runs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["step", "name", "kernel", "loops", "us", "share"]
    assert sum(line.startswith(f"{i} ") for i in range(4) for line in lines) == 8
    assert lines[-2].startswith("runs    2 on unix: min ")
    assert lines[-1].startswith(f"bytes   {convert(DIGITS).plan.arena_bytes:,} of arena, ")


def test_a_board_at_a_port_is_profiled(board, capsys):
    """Deployed files stay, also code of another version; copied files are removed."""
    (board.folder / "model.bin").write_bytes(b"deployed")
    (board.folder / "mpconnxr").mkdir()
    (board.folder / "mpconnxr" / "__init__.py").write_bytes(b"GENERATION = 1")
    before = board.files()
    report = profiled(capsys, DIGITS, "--target", board.port)
    check(report)
    assert report["target"] == board.port
    assert board.files() == before


def test_wrong_options_are_refused(capsys):
    assert main([str(DIGITS), "--profile", "--target", "not/a/port"]) == 1
    assert "not/a/port: " in capsys.readouterr().err
    for args in (["--target", "nowhere"], ["--profile", "--runs", "0"], ["--profile", "--layers"]):
        with pytest.raises(SystemExit, match="2"):
            main([str(DIGITS), *args])


def test_runs_without_profile_are_refused(capsys):
    with pytest.raises(SystemExit, match="2"):
        main([str(DIGITS), "--runs", "3"])
    assert "--runs goes with --profile" in capsys.readouterr().err
