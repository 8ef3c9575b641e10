"""What tools/flash.py refuses before it touches a board: one line that says why."""

import os
import re
from types import SimpleNamespace

import pytest

from examples.digits.demo import HERE
from tools import flash
from tools.converter.convert import convert
from tools.deploy import device as devices
from tools.deploy import ports


@pytest.fixture(scope="module")
def digits():
    return convert(HERE / "digits.onnx").data


@pytest.fixture
def model(tmp_path, digits):
    path = tmp_path / "model.bin"
    path.write_bytes(digits)
    return path


def test_a_port_that_is_silent_or_absent_is_one_line(model, monkeypatch, capsys):
    monkeypatch.setattr(devices, "_SILENCE", 0.1)
    far, near = os.openpty()
    real = devices.SerialTransport.enter_raw_repl
    quick = lambda self: real(self, timeout_overall=0.3)  # noqa: E731
    monkeypatch.setattr(devices.SerialTransport, "enter_raw_repl", quick)
    try:
        for port in (os.ttyname(near), "/dev/there-is-none"):
            assert flash.main([str(model), "--port", port]) == 1
            captured = capsys.readouterr()
            assert captured.err.startswith(f"flash: {port}: ")
            assert captured.err.count("\n") == 1 and captured.out == ""
    finally:
        os.close(far)
        os.close(near)


@pytest.mark.parametrize(
    ("n", "message"), [(0, "no board found"), (2, r"several boards.*--port: /dev/a .*/dev/b")]
)
def test_does_not_guess_a_port(n, message, model, monkeypatch, capsys):
    found = [SimpleNamespace(device=f"/dev/{c}", description="USB", vid=1) for c in "ba"[:n]]
    builtin = SimpleNamespace(device="/dev/ttyS0", description="n/a", vid=None)

    class Port(SimpleNamespace):
        def __lt__(self, other):
            return self.device < other.device

    listed = [Port(**vars(p)) for p in [*found, builtin]]
    monkeypatch.setattr(ports.list_ports, "comports", lambda: listed)
    assert flash.main([str(model)]) == 1
    assert re.match("flash: .*" + message, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--to x --port /dev/x", "give --to or --port, not both"),
        ("--to x --dry-run", "give --to or --dry-run, not both"),
        ("--to x --board pico --source", "give --board or --source, not both"),
        ("--board pico", "--board goes with --to"),
        ("--flash x", "--flash goes with --target"),
        ("--target rp2040 --port /dev/x", "give --target or --port, not both"),
        ("--romfs --dry-run --reserve 10", "give --romfs or --reserve, not both"),
        ("--dry-run --rollback", "give --dry-run or --rollback, not both"),
        ("--dry-run --firmware x.uf2", "give --dry-run or --firmware, not both"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(
    options, message, model, monkeypatch, capsys
):
    monkeypatch.chdir(model.parent)
    with pytest.raises(SystemExit) as e:
        flash.main([str(model), *options.split()])
    assert e.value.code == 2
    assert capsys.readouterr().err.endswith(f"error: {message}\n")
    assert not (model.parent / "x").exists()


@pytest.mark.parametrize("name", ["unix", "there-is-none"])
def test_a_target_that_is_no_board_is_refused(name, model, capsys):
    with pytest.raises(SystemExit) as e:
        flash.main([str(model), "--target", name])
    assert e.value.code == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert re.search(rf"error: .*'{name}' \(choose from '?rp2040'?\)$", err)


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("notes.txt", "is no image of a flash of 2,097,152 bytes: name another file"),
        (".", "is no image of a flash of 2,097,152 bytes: name another file"),
        ("notes.txt/x", "notes.txt: File exists"),
    ],
)
def test_what_is_no_flash_is_refused_before_the_board_starts(file, message, model, capsys):
    path = model.parent / "notes.txt"
    path.write_text("not to be lost")
    flash_file = str(model.parent / file)
    assert flash.main([str(model), "--target", "rp2040", "--flash", flash_file]) == 1
    captured = capsys.readouterr()
    assert message in captured.err and captured.err.count("\n") == 1 and captured.out == ""
    assert path.read_text() == "not to be lost"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no model.bin"),
        (b"ONNX" * 100, "no model.bin"),
        (b"MPCONNXR\x02\0\0\0" + bytes(200), "should be 0: convert the model again"),
    ],
)
def test_what_is_no_model_is_refused_before_a_board_is_touched(content, message, model, capsys):
    model.write_bytes(content)
    assert flash.main([str(model), "--port", "/dev/there-is-none"]) == 1
    assert message in capsys.readouterr().err
