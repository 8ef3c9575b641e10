"""Tools accept the names of real kernels in a file, and open no file for any other name."""

import builtins
import io
import pathlib
import subprocess
import sys

import pytest

from tests.host.device import small
from tools import package
from tools.converter.convert import convert
from tools.converter.file import writer
from tools.deploy.code import code_for
from tools.deploy.errors import DeployError
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package

PACKAGE = package.folder()

HELPERS = ["_block_pieces", "node", "ops", "loops"]
HOSTILE = [
    "/etc/passwd",
    "../reader",
    "..",
    "__init__",
    "loops/relu",
    "loops.viper.add",
    "_relu",
    "relu.py",
    "RELU",
    "relu\n",
    "relu\x1b[31m",
    "r" * 300,
    "",
]


def with_kernel(name):
    """Return a model of one step whose kernel has this name."""
    converted = convert(small.relu())
    converted.graph.steps[0].kernel = name
    return writer.model_bytes(converted.graph, converted.plan.arena_bytes)


def files_of(name):
    return code_for(parse_model("m.bin", with_kernel(name)), Package(), None)


def test_a_real_kernels_name_is_accepted():
    assert "mpconnxr/ops/relu.py" in [file.path for file in files_of("relu")]


def test_every_kernel_of_the_package_is_accepted():
    """Modules that kernels share begin with _ and cannot be requested."""
    package = Package()
    for path in sorted((PACKAGE / "ops").glob("*.py")):
        if not path.name.startswith("_"):
            assert "\ndef prepare(node" in path.read_text()
            assert path in package.files_for([path.stem])
        else:
            with pytest.raises(DeployError, match="no kernel"):
                package.files_for([path.stem])


@pytest.mark.parametrize("name", HOSTILE + HELPERS)
def test_other_names_are_refused_in_one_line(name):
    with pytest.raises(DeployError) as caught:
        files_of(name)
    text = str(caught.value)
    assert "\n" not in text and text.isprintable() and len(text) < 300


def test_no_file_is_read_for_a_path(tmp_path, monkeypatch):
    (tmp_path / "secret.py").write_text("def prepare(node): pass\n")
    opened, original = [], io.open

    def noting(file, *args, **kwargs):
        opened.append(str(file))
        return original(file, *args, **kwargs)

    data = with_kernel(str(tmp_path / "secret"))
    for module in (io, builtins, pathlib.io):
        monkeypatch.setattr(module, "open", noting)
    with pytest.raises(DeployError):
        code_for(parse_model("m.bin", data), Package(), None)
    assert not [path for path in opened if "secret" in path]


@pytest.mark.parametrize("name", ["/etc/passwd", "relu\x1b[31m", "r" * 300, "loops.relu"])
def test_commands_refuse_hostile_names(tmp_path, name):
    model = tmp_path / "m.bin"
    model.write_bytes(with_kernel(name))
    flash = [small.ROOT / "tools" / "flash.py", model, "--to", tmp_path / "to"]
    inspect = ["-m", "tools.converter", "inspect", model]
    for args in (flash, inspect, [*inspect, "--kernels"]):
        if args != flash and not name.isprintable():
            continue  # see the tests of what reaches a terminal
        command = [sys.executable, *map(str, args)]
        completed = subprocess.run(
            command, cwd=small.ROOT, capture_output=True, text=True, check=False
        )
        assert (
            "Traceback" not in completed.stderr
            and "\x1b" not in completed.stdout + completed.stderr
        )
        assert (
            args != flash or completed.returncode == 1 and len(completed.stderr.splitlines()) == 1
        )
    assert not (tmp_path / "to").exists()


def test_custom_kernels_are_accepted(tmp_path):
    (tmp_path / "mine.py").write_text("def prepare(node):\n    pass\n")
    (tmp_path / "helper.py").write_text("class Engine:\n    pass\n")
    (tmp_path / "_mine.py").write_text("def prepare(node):\n    pass\n")
    package = Package(own=tmp_path)
    assert tmp_path / "mine.py" in package.files_for(["mine"])
    for name in ("helper", "_mine", "mine.py", "../mine"):
        with pytest.raises(DeployError, match="no kernel"):
            package.files_for([name])
