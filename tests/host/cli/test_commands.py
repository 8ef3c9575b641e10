"""The console script's subcommands: their table, their options, their exit statuses."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from examples.digits.demo import HERE
from mpconnxr import __version__
from tests.host.device import small
from tools import arguments, cli
from tools.cli.commands import COMMANDS, GROUPS
from tools.converter.reference import cpu
from tools.deploy.boards import load_boards
from tools.micropython import target_names

ROOT = Path(__file__).parents[3]
DIGITS = str(HERE / "digits.onnx")
PROGRESS = re.compile(r", \d+ s$")  # of what takes over 10 s


@pytest.fixture(autouse=True)
def _as_before():
    yield
    arguments.called_as("")


def status_of(*argv):
    """Return the exit status of a call in this process, whether it returns or exits."""
    try:
        return cli.main([str(a) for a in argv])
    except SystemExit as e:
        return e.code


@pytest.fixture
def digits(tmp_path):
    path = tmp_path / "digits.bin"
    assert status_of("convert", DIGITS, path) == 0
    return path


def test_each_command_is_in_one_group():
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(COMMANDS)


def test_each_command_is_on_the_page():
    page = (ROOT / "docs" / "cli.md").read_text()
    for name in COMMANDS:
        assert f"| `{name}` |" in page, name


def test_help_lists_all_commands(capfd):
    assert status_of("--help") == 0
    out = capfd.readouterr().out
    assert all(f"  {name} " in out and c.about in out for name, c in COMMANDS.items())
    assert status_of() == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_the_command_as_it_was_typed(name, capfd):
    assert status_of(name, "--help") == 0
    out = capfd.readouterr().out
    assert out.startswith(f"usage: mpconnxr {name} ")
    assert "python -m" not in out.partition("\n\n")[0]


@pytest.mark.parametrize("argv", [[], *([name] for name in COMMANDS)], ids=str)
def test_version_is_printed(argv, capfd):
    assert status_of(*argv, "--version") == 0
    assert capfd.readouterr().out == f"mpconnxr {__version__}\n"


def test_verbose_version_names_what_answers_depend_on(capfd):
    assert status_of("--version", "--verbose") == 0
    first, *lines = capfd.readouterr().out.splitlines()
    assert first == f"mpconnxr {__version__}"
    assert f"CPU: {cpu.description()}" in lines
    products = [line.split()[-2:] for line in lines if "*" in line]
    assert len(products) > 20 and all(of_reference == "exact" for _, of_reference in products)


def test_version_takes_no_other_arguments(capfd):
    assert status_of("--version", "--verbsoe") == 2
    assert capfd.readouterr().err == "mpconnxr: --version takes --verbose and nothing else\n"


def test_an_unknown_command_is_wrong_usage_with_a_hint(capfd):
    assert status_of("convertt", "x.onnx") == 2
    assert capfd.readouterr().err == "mpconnxr: unknown command convertt: did you mean convert?\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_two_lines_and_status_2(name, capfd):
    required = {"targets": ["list"], "completion": ["bash"]}
    required |= {"evaluate": ["x", "--data", "x.npz:x,y"]}
    required |= {"playground": ["--serve"], "advise": ["x", "--board", "pico"]}
    required |= {"record": ["-o", "x.npz", "--pin", "26"], "monitor": ["--pin", "26"]}
    files = {
        "convert": 1,
        "quantize": 1,
        "inspect": 1,
        "new": 1,
        "report": 1,
        "run": 1,
        "sign": 1,
        "tensor": 1,
    }
    arguments = required.get(name, ["x"] * files.get(name, 0))
    assert status_of(name, *arguments, "--vresion") == 2
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 2 and "unrecognized arguments: --vresion" in lines[0]
    assert lines[1].startswith(f"mpconnxr {name}") and lines[1].endswith(
        "--help lists the options"
    )


@pytest.mark.parametrize(
    "argv",
    [
        ("convert", "none.onnx"),
        ("quantize", "none.onnx"),
        ("inspect", "none.bin"),
        ("report", "none.onnx"),
        ("sign", "none.bin", "--hmac", "none.key"),
        ("tensor", "none.npy"),
        ("flash", "none.bin"),
        ("run", "none.onnx"),
        ("advise", "none.onnx", "--board", "pico"),
        ("run", DIGITS, "none.npy"),
        ("evaluate", DIGITS, "--data", "none.npz:x,y"),
        ("ops", "none.onnx"),
        ("bench", "none.onnx"),
        ("dist", "--model", "none.bin", "--board", "pico", "--to", "x"),
    ],
    ids=" ".join,
)
def test_a_missing_file_is_status_1_in_one_line(argv, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert status_of(*argv) == 1
    err = capfd.readouterr().err
    assert err.count("\n") == 1 and "none." in err and "No such file or directory" in err


@pytest.mark.parametrize(
    "argv",
    [
        ("convert",),
        ("convert", DIGITS, "a.bin", "-o", "b.bin"),
        ("convert", DIGITS, "--arena", "many"),
        ("convert", DIGITS, "--arena", "-5"),
        ("convert", DIGITS, "--window", "-1"),
        ("convert", DIGITS, "--memory", "1"),
        ("convert", DIGITS, "--timeout", "soon"),
        ("convert", DIGITS, "--dim", "n"),
        ("quantize", DIGITS, "--io", "what"),
        ("report", DIGITS, "a.html", "-o", "b.html"),
        ("run", DIGITS, "--target", "what"),
        ("evaluate", "x.bin"),
        ("evaluate", "x.bin", "--data", "x.npz:x,y", "--target", "what"),
        ("evaluate", "x.bin", "--data", "a", "b", "c"),
        ("run", DIGITS, "--timeout", "-1"),
        ("run", DIGITS, "--", "--what"),
        ("advise", DIGITS, "--board", "what"),
        ("advise", DIGITS, "--board", "pico", "--seconds", "0"),
        ("advise", DIGITS, "--board", "pico", "--", "--what"),
        ("check", "--calls", "0"),
        ("record", "-o", "x.npz"),
        ("record", "-o", "x.npz", "--pin", "26", "--rate", "often"),
        ("record", "-o", "x.npz", "--pin", "26", "--append", "--overwrite"),
        ("monitor", "--pin", "26", "--every", "-3"),
        ("playground", "--serve", "--to", "x"),
        ("playground", "--serve", "--port", "-1"),
        ("playground", "--serve", "--port", "99999"),
        ("flash", "--target", "what", "x.bin"),
        ("flash",),
        ("flash", "x.bin", "--reserve", "-4"),
        ("flash", "x.bin", "--timeout", "-3"),
        ("flash", "x.bin", "--to", "x", "--dry-run"),
        ("flash", "x.bin", "--to", "x", "--board", "what"),
        ("boards", "what"),
        ("targets", "what"),
        ("bench", "x.onnx", "--target", "what"),
        ("conformance", "--target", "what"),
        ("dist", "what"),
        ("dist", "--model", "x.bin"),
        ("completion", "what"),
    ],
    ids=lambda argv: " ".join(Path(a).name for a in argv),
)
def test_wrong_usage_is_status_2_and_writes_nothing(argv, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert status_of(*argv) == 2
    assert capfd.readouterr().err.count("\n") <= 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "argv",
    [
        ("convert", "text"),
        ("convert", "folder"),
        ("convert", DIGITS, "folder"),
        ("convert", DIGITS, "--save-optimized", "folder"),
        ("convert", DIGITS, "none/x.bin"),
        ("report", DIGITS, "folder"),
        ("inspect", "text"),
        ("inspect", "folder"),
        ("sign", "text", "--hmac", DIGITS),
        ("tensor", "folder"),
        ("flash", "text.bin", "--to", "out"),
        ("flash", "folder", "--to", "out"),
        ("run", "text.bin"),
        ("run", DIGITS, "folder"),
        ("record", "-o", "text", "--append", "--pin", "26"),
        ("record", "-o", "none/x.npz", "--pin", "26"),
        ("monitor", "--sensor", "folder"),
        ("targets", "build", "what"),
        ("targets", "run", "unix", "folder"),
        ("ops", "text"),
        ("playground", "--to", "text"),
        ("bench", "text", "--no-c"),
        ("dist", "--to", "text"),
        ("dist", "--model", "text.bin", "--board", "pico", "--to", "out"),
    ],
    ids=lambda argv: " ".join(Path(a).name for a in argv),
)
def test_a_file_of_another_kind_is_status_1_in_one_line(argv, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    for name in ("text", "text.bin"):
        (tmp_path / name).write_text("neither a model nor samples\n")
    assert status_of(*argv) == 1
    streams = capfd.readouterr()
    lines = [text for text in streams.err.splitlines() if not PROGRESS.search(text)]
    assert len(lines) == 1 and not streams.out
    assert "[Errno" not in lines[0]


@pytest.mark.slow
def test_outputs_are_the_second_argument_an_option_or_beside_the_model(tmp_path):
    model = tmp_path / "m.onnx"
    model.write_bytes(Path(DIGITS).read_bytes())
    assert status_of("convert", model) == 0
    assert status_of("convert", model, "-o", tmp_path / "o.bin") == 0
    assert status_of("convert", model, tmp_path / "p.bin") == 0
    same = {(tmp_path / name).read_bytes() for name in ("m.bin", "o.bin", "p.bin")}
    assert len(same) == 1
    assert status_of("report", model) == 0 and (tmp_path / "m.html").is_file()
    assert status_of("report", model, tmp_path / "r.html") == 0 and (tmp_path / "r.html").is_file()


def test_quantize_converts_with_int8(tmp_path, capfd):
    data = tmp_path / "images.npy"
    images = np.load(HERE / "digits_test.npz")["images"][:20]
    np.save(data, images.reshape(-1, 1, 1, 8, 8).astype(np.float32) / 16)
    options = ("--calibration", data)
    assert status_of("quantize", DIGITS, tmp_path / "a.bin", *options, "--json") == 0
    result = json.loads(capfd.readouterr().out)
    assert status_of("convert", DIGITS, tmp_path / "b.bin", *options, "--quantize", "int8") == 0
    assert (tmp_path / "a.bin").read_bytes() == (tmp_path / "b.bin").read_bytes()
    assert result["file_bytes"] < 20_000


def test_json_of_inspect_has_the_contents_of_the_file(digits, capfd):
    capfd.readouterr()
    assert status_of("inspect", digits, "--json") == 0
    result = json.loads(capfd.readouterr().out)
    assert result["intact"] and result["arena_bytes"] == 2080
    assert [n["kernel"] for n in result["nodes"]].count("conv_max_pool") == 2
    (image,) = (result["tensors"][i] for i in result["inputs"])
    assert image["name"] == "image" and image["dtype"] == "float32"


def test_integer_inputs_and_outputs_have_scale_and_zero_point(tmp_path, capfd):
    images = np.load(HERE / "digits_test.npz")["images"][:20].astype(np.float32) / 16
    np.savez(tmp_path / "data.npz", image=images.reshape(-1, 1, 1, 8, 8))
    argv = ["quantize", DIGITS, tmp_path / "q.bin", "--calibration", tmp_path / "data.npz"]
    assert status_of(*argv, "--io", "int8") == 0
    assert "image int8 [1, 1, 8, 8], scale 0.003921569, zero point -128" in capfd.readouterr().out
    assert status_of("inspect", tmp_path / "q.bin") == 0
    assert "image, scale 0.003921569, zero point -128" in capfd.readouterr().out
    assert status_of("inspect", tmp_path / "q.bin", "--json") == 0
    stored = json.loads(capfd.readouterr().out)
    assert status_of(*argv, "--io", "int8", "--json") == 0
    report = json.loads(capfd.readouterr().out)
    interface = [stored["tensors"][i] for i in (*stored["inputs"], *stored["outputs"])]
    for t, message in zip(interface, [*report["inputs"], *report["outputs"]], strict=True):
        assert t["scale"] == message["scale"] > 0 and t["zero_point"] == message["zero_point"]


def test_boards_and_targets_are_listed_as_json(capfd):
    assert status_of("boards", "--json") == 0
    assert [b["name"] for b in json.loads(capfd.readouterr().out)] == [
        b.name for b in load_boards()
    ]
    assert status_of("targets", "list", "--json") == 0
    assert [t["name"] for t in json.loads(capfd.readouterr().out)] == list(target_names())


def test_one_board_is_shown_with_its_sources(capfd):
    assert status_of("boards", "pico") == 0
    out = capfd.readouterr().out
    assert "free_heap_bytes" in out and "(" in out


def test_operators_of_a_model_are_listed(capfd):
    assert status_of("ops", DIGITS, "--json") == 0
    rows = json.loads(capfd.readouterr().out)
    assert {r["operator"]: r["nodes"] for r in rows}["Conv"] == 2
    assert all(r["supported"] for r in rows)


def test_an_unsupported_operator_comes_first_with_status_1(tmp_path, capfd):
    import onnx

    nodes = [("Relu", "x", "r", {}), ("Teleport", "r", "y", {"domain": "com.acme"})]
    model = small.model(nodes, [small.value("x", [2])], [small.value("y", [2])])
    onnx.save(model, tmp_path / "m.onnx")
    assert status_of("ops", tmp_path / "m.onnx") == 1
    first, second = capfd.readouterr().out.splitlines()
    assert first.startswith("com.acme::Teleport") and "no kernel" in first
    assert second.split() == ["Relu", "1", "kernel"]


def test_all_operators_have_a_kernel_or_a_function(capfd):
    assert status_of("ops", "--json") == 0
    rows = {r["operator"]: r["how"] for r in json.loads(capfd.readouterr().out)}
    assert rows["Conv"] == "kernel" and rows["com.microsoft::FusedConv"] == "kernel"
    assert set(rows.values()) == {"kernel", "function"}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_commands_and_options(shell, capfd):
    assert status_of("completion", shell) == 0
    out = capfd.readouterr().out
    assert all(text in out for text in ("convert", "--quantize", "targets", "--rollback"))


def test_bash_completes_a_command_and_an_option(tmp_path, capfd):
    assert status_of("completion", "bash") == 0
    script = tmp_path / "completion"
    script.write_text(capfd.readouterr().out)
    for words, index, expected in (
        ("mpconnxr con", 1, "convert"),
        ("mpconnxr convert --qua", 2, "--quantize"),
    ):
        code = (
            f"source {script}; COMP_WORDS=({words}); COMP_CWORD={index}; "
            "$(complete -p mpconnxr | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo ${COMPREPLY[@]}"
        )
        completed = subprocess.run(["bash", "-c", code], capture_output=True, text=True)
        assert expected in completed.stdout.split(), completed.stderr


@pytest.mark.slow
def test_a_reader_that_leaves_early_gets_neither_traceback_nor_message(digits):
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
    for command in ("ops", "boards --json", "targets list", f"inspect {digits}", f"ops {DIGITS}"):
        completed = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m tools.cli {command} | head -c 10; sleep 0.1"],
            capture_output=True,
            text=True,
            env=environment,
        )
        assert completed.stderr == "" and len(completed.stdout) == 10


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"completion", "targets"}))
def test_each_command_takes_json(name):
    assert "--json" in COMMANDS[name].parser().format_help()


def test_the_list_of_targets_takes_json(capfd):
    assert status_of("targets", "list", "--help") == 0
    assert "--json" in capfd.readouterr().out


def test_json_names_the_written_files(digits, tmp_path, capfd):
    key = tmp_path / "secret.key"
    key.write_bytes(bytes(range(32)))
    x = tmp_path / "x.npy"
    np.save(x, np.zeros(3, np.float32))
    capfd.readouterr()
    calls = [
        (("sign", digits, tmp_path / "s.bin", "--hmac", key, "--counter", 1), "s.bin"),
        (("tensor", x), "x.bin"),
        (("report", DIGITS, tmp_path / "r.html"), "r.html"),
    ]
    for argv, name in calls:
        assert status_of(*argv, "--json") == 0
        result = json.loads(capfd.readouterr().out)
        assert result["file"] == str(tmp_path / name) and (tmp_path / name).is_file()
    options = ("--board", "pico", "--to", tmp_path / "package", "--json")
    assert status_of("dist", "--model", digits, *options) == 0
    files = json.loads(capfd.readouterr().out)["files"]
    assert all((tmp_path / "package" / f).is_file() for f in files) and "digits.bin" in files
