"""The worked examples of docs/architecture.md work, and its table of rooms is that of the code."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.host.test_imports import imports

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
_COPIED = ("boards", "examples/digits", "mpconnxr", "mpconnxr_host", "tools")
_DTYPES = {"float32": TensorProto.FLOAT, "uint8": TensorProto.UINT8}
_BLOCK = re.compile(r"^(?:`([\w/.-]+)`\n\n)?```(python|toml|diff)\n(.*?)^```", re.M | re.S)
_RESULT = re.compile(r"^`com\.acme\.(\w+)` of `(.*?)` (\w+) gives `(.*?)`\.", re.M)
_COMMAND = re.compile(r"^`mpconnxr (.*?)` prints `(.*?)`", re.M)
_ROOM = re.compile(r"^\| \[tools/(\w+)\]\(\.\./tools/\w+\) \| .* \| (.*) \|$", re.M)


def sections() -> dict[str, str]:
    """Return the texts of the page's worked examples by title."""
    part = PAGE.partition("\n## Where new things go\n")[2].partition("\n## ")[0]
    _, *rest = re.split(r"^### (.*)\n", part, flags=re.M)
    return dict(zip(rest[::2], rest[1::2], strict=True))


EXAMPLES = sections()


def apply(title: str, root: Path) -> None:
    """Write the files of an example below a copy of the repository."""
    path = None
    for name, language, text in _BLOCK.findall(EXAMPLES[title]):
        path = root / name if name else path
        if language == "diff":
            path.write_text(with_additions(path.read_text(), text))
        else:
            assert not path.exists()
            path.write_text(text)


def with_additions(text: str, diff: str) -> str:
    """Return a text with the lines of a diff that are new, each after the line before it."""
    before = ""
    for line in diff.splitlines():
        if line[0] == "+":
            assert text.count(f"{before}\n") == 1, before
            text = text.replace(f"{before}\n", f"{before}\n{line[1:]}\n")
        else:
            assert f"{line[1:]}\n" in text, line
        before = line[1:]
    return text


@pytest.fixture
def copy(tmp_path):
    """Copy the tools and the package, so that an example can be written into them."""
    for name in _COPIED:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    return tmp_path


def run(root: Path, *args: str) -> str:
    """Return what a command of `mpconnxr` prints in a copy."""
    command = [sys.executable, "-m", "tools.cli", *args]
    ended = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def save_model(path: Path, operator: str, dtype: str, shape: tuple[int, ...]) -> None:
    """Write a model of one node of com.acme."""
    x, y = (helper.make_tensor_value_info(n, _DTYPES[dtype], shape) for n in "xy")
    node = helper.make_node(operator, ["x"], ["y"], domain="com.acme")
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.acme", 1)]
    graph = helper.make_graph([node], "one", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=opsets), path)


def check_result(root: Path, title: str, target: str) -> None:
    """Run the model that an example speaks of, and compare its output with the page."""
    operator, values, dtype, result = _RESULT.search(EXAMPLES[title]).groups()
    x, y = (np.array(eval(text), dtype) for text in (values, result))
    save_model(root / "model.onnx", operator, dtype, x.shape)
    np.save(root / "x.npy", x)
    run(root, "convert", "model.onnx", "model.bin")
    run(root, "run", "model.bin", "x.npy", "--target", target, "--output-dir", "out")
    saved = root / "out" / "output_0.npy"
    assert np.array_equal(np.load(saved), y)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix", "unix-plain"])
def test_an_operator_that_a_kernel_computes(copy, target):
    apply("An operator", copy)
    check_result(copy, "An operator", target)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix", "unix-plain"])
def test_a_kernel_with_its_loop_and_another_form(copy, target):
    apply("A kernel and its loop", copy)
    check_result(copy, "A kernel and its loop", target)
    apply("A form of a loop", copy)
    check_result(copy, "A form of a loop", target)


@pytest.mark.slow
def test_a_pass_is_in_the_pipeline_and_runs(copy):
    apply("A pass", copy)
    ((command, name),) = _COMMAND.findall(EXAMPLES["A pass"])
    assert name in run(copy, *shlex.split(command))
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xy")
    nodes = [
        helper.make_node("Neg", ["x"], ["a"]),
        helper.make_node("Neg", ["a"], ["b"]),
        helper.make_node("Abs", ["b"], ["y"]),
    ]
    model = helper.make_model(helper.make_graph(nodes, "g", [x], [y]))
    onnx.save(model, copy / "model.onnx")
    report = run(copy, "convert", "model.onnx", "model.bin")
    assert "nodes    3 -> 1 -> 1 steps" in report


def test_a_board_is_listed(copy):
    apply("A board", copy)
    ((command, title),) = _COMMAND.findall(EXAMPLES["A board"])
    assert title in run(copy, *shlex.split(command))


def test_a_command_runs(copy):
    apply("A command", copy)
    ((command, number),) = _COMMAND.findall(EXAMPLES["A command"])
    assert run(copy, *shlex.split(command)) == f"{number}\n"


def test_every_example_is_tested():
    assert list(EXAMPLES) == [
        "An operator",
        "A kernel and its loop",
        "A form of a loop",
        "A pass",
        "A board",
        "A command",
    ]


def rooms_imported() -> dict[str, set[str]]:
    """Return the rooms of tools/ that each of them imports."""
    rooms = {path.name for path in (ROOT / "tools").iterdir() if any(path.glob("*.py"))}
    imported: dict[str, set[str]] = {room: set() for room in rooms}
    for module, names in imports("tools").items():
        room = module.split(".")[1:2]
        if rooms.issuperset(room):
            others = {name.split(".")[1] for name in names if "." in name}
            for each in room:
                imported[each] |= others & rooms - {each}
    return imported


def test_the_rooms_of_tools_import_what_the_page_says():
    listed = {
        room: set(names.replace("-", "").split(", ")) - {""} for room, names in _ROOM.findall(PAGE)
    }
    assert listed == rooms_imported()


def test_the_tour_has_the_numbers_of_today():
    from examples.digits import tour

    assert tour.PAGE.read_text() == tour.page()
