"""tools/flash.py deploys models to a fake board."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples.custom_op.demo import OPS
from examples.custom_op.network import ACME, network
from examples.digits.demo import HERE
from tests.host.fake_board import FakeBoard
from tools import package, progress
from tools.converter.convert import Options, convert
from tools.converter.reference import golden
from tools.deploy import device as devices
from tools.deploy.model_file import read_model

ROOT = Path(__file__).parent.parent.parent
# In ops/, of before loops had a folder.
EARLIER = ("loops_block.mpy", "loops_block_dot_viper64.mpy", "loops_add_thumb.py", "block.mpy")


@pytest.fixture(params=["unix32"])
def board(request, ready_target, tmp_path):
    folder = tmp_path / "board"
    folder.mkdir()
    fake = FakeBoard(ready_target(request.param).build(), folder)
    yield fake
    fake.stop()


@pytest.fixture(scope="module")
def digits():
    return convert(HERE / "digits.onnx").data


@pytest.fixture
def model(tmp_path, digits):
    path = tmp_path / "model.bin"
    path.write_bytes(digits)
    return path


@pytest.mark.slow
def test_deploys_verifies_and_then_copies_only_what_differs(board, model, digits, capsys):
    assert board.flash(model) == 0
    out = capsys.readouterr().out
    assert "MicroPython 1." in out and "compiled for x" in out
    assert "\nverified: error " in out
    files = board.files()
    assert files.pop("model.active") == b"a"
    assert files["model.a.bin"] == digits
    assert "mpconnxr/ops/block_gemm.mpy" in files
    assert "mpconnxr/ops/move.mpy" not in files  # digits has no such step
    assert {Path(name).suffix for name in files} == {".mpy", ".bin"}

    assert board.flash(model) == 0
    assert f"copied    0 of {len(files)} files, 0 bytes" in capsys.readouterr().out

    kernel = board.folder / "mpconnxr" / "ops" / "block_gemm.mpy"
    kernel.write_bytes(kernel.read_bytes()[:-1] + b"#")
    (board.folder / "model.a.bin").unlink()
    assert board.flash(model) == 0
    out = capsys.readouterr().out
    # The code in use is not touched: what is right of it is copied on the board, to place b.
    assert f"copied    3 of {len(files) + 1} files" in out
    assert "\nverified: " in out
    result = board.files()
    for name, data in files.items():
        at = f"mpconnxr_b/{name}" if name.startswith("mpconnxr/") else name
        assert result[at] == data, name
    assert not (board.folder / "mpconnxr").exists() and "mpconnxr.mpy" in result


def test_a_terminal_shows_progress(board, model, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert board.flash(model) == 0
    err = capsys.readouterr().err
    assert err.index("the board compares its files") < err.index("the board verifies the model")


def test_a_pipe_gets_occasional_progress_lines(board, model, monkeypatch, capsys):
    monkeypatch.setattr(progress, "EVERY", 0.02)
    assert board.flash(model) == 0
    lines = capsys.readouterr().err.splitlines()
    assert any(re.match(r"flash: copying .*, \d+ of \d+ KB, \d+ s$", line) for line in lines)
    assert "flash: the board verifies the model, 0 s" in lines


def test_json_is_one_object_with_all_information(board, model, capsys):
    assert board.flash(model, "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert result["status"] == 0 and result["board"]["platform"] == sys.platform
    assert result["copied"]["files"] == result["code"]["files"] + 1
    assert result["verified"]["ok"] and result["verified"]["seconds"] > 0
    assert result["fits"]["heap_bytes"] <= result["fits"]["free_heap_bytes"]
    assert board.flash(model, "--json", "--rollback") == 1
    result = json.loads(capsys.readouterr().out)
    assert result["status"] == 1 and result["error"]


def test_the_reported_heap_is_right(board, model, capsys):
    assert board.flash(model) == 0
    out = capsys.readouterr().out
    known = read_model(model)
    peak = int(re.search(r"peak heap ([\d,]+) bytes", out)[1].replace(",", ""))
    assert known.streamed_nbytes < peak < 150_000
    assert f"buffer for weights {known.streamed_nbytes - known.arena_nbytes:,}" in out


@pytest.mark.slow
def test_sources_and_compiled_files_are_never_side_by_side(board, model, capsys):
    assert board.flash(model, "--source") == 0
    assert "sources, all forms" in capsys.readouterr().out
    files = board.files()
    kernel = "mpconnxr/ops/block_gemm.py"
    assert files[kernel] == (package.folder().parent / kernel).read_bytes()
    assert "mpconnxr/loops/armv7m/block_dot.py" in files
    assert board.flash(model) == 0
    compiled = {n: data for n, data in board.files().items() if not n.startswith("mpconnxr_a/")}
    assert not [name for name in compiled if name.endswith(".py")]
    assert "mpconnxr_b/mpconnxr/loops/armv7m/block_dot.mpy" not in compiled
    assert board.flash(model, "--source") == 0  # the place has it still
    assert "copied    0 of" in capsys.readouterr().out
    assert {n: d for n, d in board.files().items() if n in files} == files


@pytest.mark.slow
def test_overwriting_replaces_files_one_by_one(board, model, capsys):
    """This is for boards without memory for two packages."""
    assert board.flash(model) == 0
    files = board.files()
    kernel = board.folder / "mpconnxr" / "ops" / "block_gemm.mpy"
    kernel.write_bytes(kernel.read_bytes()[:-1] + b"#")
    capsys.readouterr()
    assert board.flash(model, "--overwrite") == 0
    assert "copied    1 of" in capsys.readouterr().out
    assert board.files() == files


@pytest.mark.slow
def test_forms_that_are_overwritten_leave_no_folders(board, model):
    assert board.flash(model, "--source", "--no-verify") == 0
    assert (board.folder / "mpconnxr" / "loops" / "armv7m").is_dir()
    assert board.flash(model, "--overwrite", "--no-verify") == 0
    folders = [path for path in board.folder.rglob("*") if path.is_dir()]
    assert all(any(path.iterdir()) for path in folders)
    assert not (board.folder / "mpconnxr" / "loops" / "armv7m").exists()


@pytest.mark.slow
def test_leftovers_of_an_earlier_installation_are_removed(board, model, capsys):
    """Loops once had no folder; files that are not mpconnxr's stay."""
    assert board.flash(model) == 0
    ops, files = board.folder / "mpconnxr" / "ops", board.files()
    for name in EARLIER:
        (ops / name).write_bytes(b"old")
    (ops / "loops_mine.py").write_bytes(b"1")
    assert board.flash(model, "--dry-run", "--overwrite") == 0
    assert all((ops / name).exists() for name in EARLIER)
    capsys.readouterr()
    assert board.flash(model, "--overwrite") == 0
    assert "copied    0 of" in capsys.readouterr().out
    assert board.files() == files | {"mpconnxr/ops/loops_mine.py": b"1"}


@pytest.mark.slow
def test_an_update_leaves_none_of_an_earlier_installation(board, model):
    """The earlier one stays complete, for a rollback, until the next update."""
    assert board.flash(model) == 0
    for name in EARLIER:
        (board.folder / "mpconnxr" / "ops" / name).write_bytes(b"old")
    assert board.flash(model) == 0
    assert left(board) == sorted(f"mpconnxr_a/mpconnxr/ops/{name}" for name in EARLIER)
    (board.folder / "mpconnxr_b" / "mpconnxr" / "forms.mpy").write_bytes(b"older")
    assert board.flash(model) == 0
    assert left(board) == []


def left(board):
    return sorted(p for p in board.files() if p.endswith(tuple(f"/ops/{n}" for n in EARLIER)))


def test_dry_run_changes_nothing(board, model, capsys):
    assert board.flash(model, "--dry-run") == 0
    out = capsys.readouterr().out
    assert "would copy" in out and "/mpconnxr/ops/block_gemm.mpy, " in out
    assert "verified" not in out
    assert board.files() == {}


def test_deploys_into_a_folder_of_the_board(board, model, capsys):
    where = board.folder / "some" / "where"
    assert board.flash(model, "--dir", str(where)) == 1  # it is not there
    where.mkdir(parents=True)
    assert board.flash(model, "--dir", str(where)) == 0
    assert "\nverified: " in capsys.readouterr().out
    assert (where / "mpconnxr" / "model.mpy").is_file()


def test_wrong_results_fail_the_verification(board, model, monkeypatch, capsys):
    right = golden.named_reference

    def wrong(*arguments):
        return [(name, y + np.float32(1)) for name, y in right(*arguments)]

    monkeypatch.setattr(golden, "named_reference", wrong)
    model.write_bytes(convert(HERE / "digits.onnx").data)
    assert board.flash(model) == 1
    assert "\nNOT verified: error 1" in capsys.readouterr().out
    assert board.flash(model, "--no-verify") == 0


def test_an_exception_on_the_board_is_shown_with_its_traceback(
    board, model, digits, monkeypatch, capsys
):
    real = devices.Device.put

    def put_and_damage(device, path, stale=()):
        real(device, path, stale)
        if path.endswith(".bin"):
            at = len(digits) // 2  # in the weights: found by the board, by their digest
            damage = f"with open({path!r}, 'r+b') as f:\n f.seek({at})\n f.write(b'####')"
            device.execute(damage)

    monkeypatch.setattr(devices.Device, "put", put_and_damage)
    assert board.flash(model) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err and 'File "errors", line' in err and ", in check_digest" in err
    assert err.splitlines()[-1].startswith("flash: the board raised ModelError: ")
    assert err.count("flash:") == 1


def test_a_stripped_model_cannot_be_verified(board, model, capsys):
    model.write_bytes(convert(HERE / "digits.onnx", Options(strip=True)).data)
    assert board.flash(model) == 1
    assert "no test vector" in capsys.readouterr().err


def test_a_failed_write_is_detected_and_undone(board, model, monkeypatch, capsys):
    broken = devices._CODE.replace("a2b_base64(text))", "a2b_base64(text)[1:])")
    assert broken != devices._CODE
    monkeypatch.setattr(devices, "_CODE", broken)
    assert board.flash(model) == 1
    assert "was written instead of" in capsys.readouterr().err
    assert board.files() == {}


def test_a_model_that_needs_too_much_memory_is_refused_first(board, model, monkeypatch, capsys):
    small = devices._CODE.replace("gc.mem_free(),", "60000,")
    monkeypatch.setattr(devices, "_CODE", small)
    assert board.flash(model) == 1
    err = capsys.readouterr().err
    assert "60,000 are free" in err and "mpconnxr advise tries" in err
    assert board.files() == {}


def test_a_full_board_is_refused_before_the_first_write(board, model, monkeypatch, capsys):
    monkeypatch.setattr(devices, "_CODE", devices._CODE.replace("s[0] * s[3]", "1000"))
    assert board.flash(model) == 1
    assert "bytes to copy, 1,000 free" in capsys.readouterr().err
    assert board.files() == {}


def test_an_old_firmware_is_refused(board, model, monkeypatch, capsys):
    old = devices._CODE.replace("it.version[:3]", "(1, 23, 0)")
    monkeypatch.setattr(devices, "_CODE", old)
    assert board.flash(model) == 1
    assert "flash: the board runs micropython 1.23.0" in capsys.readouterr().err


def test_flash_runs_as_a_plain_script(tmp_path):
    def script(*args):
        command = [sys.executable, ROOT / "tools" / "flash.py", *args]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)

    listed = script("--list-boards")
    assert listed.returncode == 0 and "RP2040" in listed.stdout
    assert script().returncode == 2
    absent = script("none.bin")
    assert (absent.returncode, absent.stderr) == (
        1,
        "flash: none.bin: No such file or directory\n",
    )


def test_custom_kernels_are_deployed(board, tmp_path, capsys):
    path = tmp_path / "denoise.bin"
    path.write_bytes(convert(network(), Options(ops=OPS, allow_domains=[ACME])).data)
    assert board.flash(path, "--ops", str(OPS)) == 0
    assert "verified" in capsys.readouterr().out
    assert "mpconnxr/ops/fir_engine.mpy" in board.files()
