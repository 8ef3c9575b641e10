"""Commands start fast: they import what is large when they need it. Their help has an example."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tools import cli
from tools.cli.commands import COMMANDS

ROOT = Path(__file__).parents[3]
EXAMPLE = re.compile(r"^example: (mpconnxr .*)$", re.M)
PAGE = re.compile(r"^more:    (docs/\w+\.md)$", re.M)
LARGE = {"onnx", "onnx_ir", "onnxscript", "onnxruntime", "sympy", "numpy", "ml_dtypes"}
LARGE |= {"cryptography", "jinja2", "rich"}
MODULES = """
import contextlib, io, json, sys
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    {}
print(json.dumps(list(sys.modules)))
"""


def imported(code: str) -> set[str]:
    """Return the modules that a process has imported after these lines."""
    command = [sys.executable, "-c", MODULES.format(code.replace("\n", "\n    "))]
    return set(json.loads(subprocess.check_output(command, cwd=ROOT, text=True)))


@pytest.mark.parametrize("argv", [["--help"], *([name, "--help"] for name in COMMANDS)], ids=str)
def test_help_imports_nothing_large(argv):
    modules = imported(f"from tools.cli import main\nmain({argv})")
    assert "tools.cli" in modules and not modules & LARGE


@pytest.mark.parametrize("argv", [["boards"], ["completion", "bash"], ["--version"]], ids=str)
def test_short_commands_import_nothing_large(argv):
    assert not imported(f"from tools.cli import main\nmain({argv})") & LARGE


def test_a_list_of_all_operators_needs_no_more_than_onnx():
    modules = imported("from tools.cli import ops\nops.main([])")
    assert "onnx" in modules and modules & LARGE <= {"onnx", "numpy", "ml_dtypes"}


@pytest.mark.parametrize(
    ("argv", "module"),
    [
        (["convert", "x.onnx"], "tools.converter.convert"),
        (["quantize", "x.onnx"], "tools.converter.convert"),
        (["report", "x.onnx"], "tools.converter.convert"),
        (["run", "x.onnx"], "tools.run.execute"),
        (["ops", "x.onnx"], "tools.converter.load"),
    ],
    ids=str,
)
def test_what_a_command_imports_before_its_limits_does_not_count_for_them(argv, module):
    lines = ["from tools import cli, limits", "limits.run = lambda *_: 0", f"cli.main({argv})"]
    code = "\n".join(lines)
    assert {module, "onnx_ir"} <= imported(code)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_a_help_can_be_typed(name, capsys):
    with pytest.raises(SystemExit):
        cli.main([name, "--help"])
    (example,) = EXAMPLE.findall(capsys.readouterr().out)
    command, *argv = shlex.split(example)[1:]
    end = argv.index("--") if "--" in argv else len(argv)
    parser = COMMANDS[name].parser()
    assert command == name and parser.parse_args(argv[:end])


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_a_page_that_exists(name):
    (page,) = PAGE.findall(COMMANDS[name].parser().format_help())
    assert (ROOT / page).is_file()
