"""Commands say what they wrote, whether it fits the user's board, and what comes next."""

import json
import os
import re
import subprocess
from types import SimpleNamespace

import numpy as np
import onnx
import pytest

from examples.digits.demo import HERE
from tests.host.device import binfile, small
from tests.host.fake_board import FakeBoard
from tools import flash, project
from tools.advise.__main__ import main as advise
from tools.converter.__main__ import main as convert
from tools.converter.convert import Options
from tools.converter.convert import convert as converted
from tools.converter.load import sound
from tools.deploy import ports
from tools.errors import ConvertError, UsageError
from tools.format import layout, reader
from tools.micropython.__main__ import main as targets
from tools.run.__main__ import main as run

DIGITS = str(HERE / "digits.onnx")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def digits_bin(here):
    (here / "digits.bin").write_bytes(converted(HERE / "digits.onnx").data)
    return "digits.bin"


def test_convert_names_its_file_and_the_next_commands(here, capsys):
    assert convert([DIGITS, "digits.bin"]) == 0
    nbytes = (here / "digits.bin").stat().st_size
    *_, written, following = capsys.readouterr().out.splitlines()
    assert written == f"saved    digits.bin, {nbytes:,} bytes"
    assert "mpconnxr run digits.bin runs" in following and "flash digits.bin on" in following


def test_a_file_without_a_test_vector_gets_commands_that_work(here, capsys):
    assert convert([DIGITS, "my model.bin", "--strip", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["file"] == "my model.bin"
    assert report["next"] == [
        "mpconnxr run 'my model.bin' --random 1",
        "mpconnxr flash 'my model.bin' --no-verify",
    ]


@pytest.mark.parametrize(
    ("board", "text"),
    [
        (
            "pico",
            r"board    fits Raspberry Pi Pico \(pico\): \d+ of 210 KB of heap, about [\d.]+ ",
        ),
        ("esp8266", r"board    does not fit .*35,000 are free there. mpconnxr advise \S+ --board"),
        ("microbit-v2", r"board    .*microbit-v2\): \w+"),
    ],
)
def test_convert_says_whether_the_model_fits_a_board(board, text, here, capsys):
    assert convert([DIGITS, "digits.bin", "--board", board]) == 0
    assert re.search(f"^{text}", capsys.readouterr().out, re.M)


def test_the_board_of_the_project_is_the_default(here, capsys):
    (here / "pyproject.toml").write_text('[tool.mpconnxr]\nboard = "pico"\n')
    assert convert([DIGITS, "digits.bin", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)["board"]
    assert (about["name"], about["verdict"]) == ("pico", "fits")
    assert 0 < about["heap_bytes"] < about["free_heap_bytes"] and about["seconds"] > 0
    assert project.board_of("esp8266").name == "esp8266"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[tool.mpconnxr]\nboard = "nope"\n', "board = nope: no such board"),
        ("[tool.mpconnxr]\nboard = 7\n", "board = 7: no such board"),
        ('[tool.mpconnxr]\nboard_name = "pico"\n', "has board_name; known are: board"),
        ("[tool]\nmpconnxr = 7\n", "is not a table"),
        ("[tool", "pyproject.toml: "),
    ],
)
def test_a_wrong_table_of_the_project_is_refused(text, message, here, capsys):
    (here / "pyproject.toml").write_text(text)
    assert convert([DIGITS, "digits.bin"]) == 2
    assert message in capsys.readouterr().err and not (here / "digits.bin").exists()


def test_a_project_of_other_tools_names_no_board(here):
    (here / "pyproject.toml").write_text("[project]\nname = 'x'\n[tool.ruff]\n")
    assert project.board_of(None) is None
    with pytest.raises(UsageError, match="--board nope: no such board"):
        project.board_of("nope")


def test_advise_needs_a_board(here, capsys):
    assert advise([DIGITS]) == 2
    assert "--board NAME is needed" in capsys.readouterr().err


def test_run_verifies_a_file_by_its_test_vector(digits_bin, target, capsys):
    assert run([digits_bin]) == 0
    out = capsys.readouterr().out
    assert re.search(
        r"^verified: error [\d.e-]+ where values reach 24\.1, by the test vector", out
    )
    assert "image float32 [1, 1, 8, 8]: give X.npy" in out
    assert run([digits_bin, "--json"]) == 0
    verified = json.loads(capsys.readouterr().out)["verified"]
    assert verified["ok"] and verified["max_error"] <= verified["bound"]


def test_run_says_if_a_file_computes_something_else(here, target, capsys):
    x, y = small.value("x", (1, 2)), small.value("y", (1, 2))
    data = converted(small.model([("Neg", "x", "y", {})], [x], [y])).data
    (here / "m.bin").write_bytes(binfile.with_bytes(data, *_swapped(data)))
    assert run(["m.bin"]) == 1
    assert "NOT verified: error " in capsys.readouterr().out


def _swapped(data):
    """Return the output in a file's test vector, and another one of its size."""
    chunk = reader.read(data).chunk(layout.CHUNK_GOLDEN).data
    output = chunk[32:40]
    return output, np.array([100, 200], np.float32).tobytes()


def test_run_says_what_to_give_where_there_is_no_test_vector(here, target, capsys):
    (here / "m.bin").write_bytes(converted(small.relu((1, 2)), Options(strip=True)).data)
    assert run(["m.bin"]) == 2
    assert "1 needed: input_0 float32 [1, 2]: give X.npy for each, or --random 1" in (
        capsys.readouterr().err
    )


@pytest.fixture
def board(ready_target, tmp_path):
    folder = tmp_path / "board"
    folder.mkdir()
    with FakeBoard(ready_target("unix32").build(), folder) as fake:
        fake.executable = ready_target("unix32").build()
        yield fake


def test_flash_converts_an_onnx_and_prints_lines_that_run_it(board, here, capsys):
    onnx.save(onnx.load(DIGITS), "digits.onnx")
    assert flash.main(["digits.onnx", "--port", board.port]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^convert   digits\.onnx to digits\.bin, [\d,]+ bytes", out, re.M)
    assert "\nverified: " in out and not (here / "digits.bin").exists()
    lines = [line.strip() for line in out[out.index("\nnext ") :].splitlines()[2:]]
    assert len(lines) == 3 and lines[-1].endswith("# image: float32 (1, 1, 8, 8)")
    script = here / "script.py"
    script.write_text("import sys\nsys.path.insert(0, '')\n" + "\n".join(lines))
    done = subprocess.run(
        [board.executable, "-X", "heapsize=256k", script],
        cwd=board.folder,
        env=os.environ | {"MICROPYPATH": str(board.folder)},
        capture_output=True,
        text=True,
    )
    assert re.fullmatch(r"\d\n", done.stdout), done.stderr


def test_flash_reports_why_an_onnx_does_not_convert(here, capsys):
    model = small.model(
        [("Foo", "x", "y", {})], [small.value("x", (1,))], [small.value("y", (1,))]
    )
    onnx.save(model, "m.onnx")
    assert flash.main(["m.onnx", "--port", "/dev/there-is-none"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("flash: m.onnx: ") and "Foo" in error and error.count("\n") == 1


def test_flash_to_a_folder_converts_as_well(here, capsys):
    onnx.save(onnx.load(DIGITS), "digits.onnx")
    assert flash.main(["digits.onnx", "--to", "files", "--board", "pico"]) == 0
    assert (here / "files/digits.bin").read_bytes() == converted(HERE / "digits.onnx").data


PORTS = [
    SimpleNamespace(device="/dev/ttyS0", description="n/a", vid=None),
    SimpleNamespace(device="/dev/ttyACM1", description="Board in FS mode", vid=1),
]


def test_a_message_lists_the_ports_that_exist(monkeypatch):
    monkeypatch.setattr(ports.list_ports, "comports", lambda: PORTS)
    text = ports.why_closed("/dev/there-is-none")
    assert text.startswith("there is no such port: the ports here are /dev/ttyACM1 (Board in FS ")
    assert "/dev/ttyS0; --target rp2040" in text
    monkeypatch.setattr(ports.list_ports, "comports", lambda: [])
    assert "there are no serial ports here" in ports.why_closed("/dev/there-is-none")


@pytest.mark.skipif(os.name != "posix", reason="permissions and devices of POSIX")
def test_a_message_tells_a_port_in_use_from_one_without_permission(tmp_path, monkeypatch):
    far, near = os.openpty()
    try:
        port = os.ttyname(near)
        assert ports.why_closed(port).startswith("it is in use")
        monkeypatch.setattr(ports.os, "access", lambda path, mode: False)
        assert "group" in ports.why_closed(port) and "dialout" in ports.why_closed(port)
        assert ports.why_closed(str(tmp_path)).startswith("this is not a serial port")
    finally:
        os.close(far)
        os.close(near)


def test_a_port_without_micropython_says_what_to_do():
    text = ports.why_silent("/dev/ttyX", "could not enter raw repl")
    assert text.startswith("no MicroPython answers there") and "--port /dev/ttyX" in text
    assert ports.why_silent("/dev/ttyX", "it stopped") == "it stopped"


def test_a_missing_file_of_a_script_is_named(here, target, capsys):
    (here / "s.py").write_text("")
    assert targets(["run", "unix", "--file", "nope", "s.py"]) == 1
    assert capsys.readouterr().err == "micropython: --file nope: no such file or folder\n"
    assert targets(["run", "unix", "--file", "mpconnxr", "s.py"]) == 1
    assert "; mpconnxr package --to FOLDER writes it" in capsys.readouterr().err


def test_a_script_that_does_not_end_is_told_of_the_limit(here, target, capsys):
    (here / "s.py").write_text("while True:\n    pass\n")
    assert targets(["run", "unix", "--timeout", "0.3", "s.py"]) == 1
    assert "no end within 0.3 s: --timeout SECONDS allows more" in capsys.readouterr().err


def test_installing_says_what_it_did(target, capsys):
    assert targets(["build", "unix"]) == 0
    assert re.match(r"unix +was built already: /", capsys.readouterr().out)


def test_a_newer_ir_version_says_what_to_do():
    model = small.relu((1, 2))
    model.ir_version = onnx.IR_VERSION + 1
    with pytest.raises(ConvertError, match=f"set model.ir_version = {onnx.IR_VERSION} in Python"):
        sound.check(model)


def test_tables_have_no_blanks_at_the_ends_of_lines(here, capsys):
    assert convert([DIGITS, "digits.bin", "--summary"]) == 0
    out = capsys.readouterr().out
    assert "pico2-riscv" in out
    assert not [line for line in out.splitlines() if line != line.rstrip()]


def test_random_inputs_of_an_int8_model_are_said_to_be_outside(here, target, capsys):
    images = np.load(HERE / "digits_test.npz")["images"][:64]
    np.savez("cal.npz", image=(images / 16).astype(np.float32).reshape(-1, 1, 1, 8, 8))
    assert convert(["quantize", DIGITS, "q.bin", "--calibration", "cal.npz"]) == 0
    capsys.readouterr()
    assert run(["q.bin", "--random", "2", "--compare", DIGITS]) == 0
    assert "random inputs lie outside of the range" in capsys.readouterr().err
    assert run([DIGITS, "--random", "2", "--compare"]) == 0
    assert "outside" not in capsys.readouterr().err


def test_an_inference_that_does_not_end_is_told_of_the_limit(here, target, capsys):
    model = small.model(
        [("MatMul", "x x", "y", {})],
        [small.value("x", (500, 500))],
        [small.value("y", (500, 500))],
    )
    (here / "m.bin").write_bytes(converted(model, Options(strip=True)).data)
    assert run(["m.bin", "--random", "1", "--timeout", "0.2"]) == 1
    assert "no end within 0.2 s: --timeout SECONDS allows more" in capsys.readouterr().err
