"""The tutorials' commands print what the pages quote, apart from the numbers."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
_SAVED = re.compile(r"[Ss]ave this as `(\w+\.py)`[^`]*```python\n(.*?)```", re.S)
_NUMBER = re.compile(r"[0-9a-f]{64}|\d[\d.,]*(?:e[+-]?\d+)?")


def exchanges(page: str) -> list[tuple[str, list[str]]]:
    """Return each command of the page's console blocks with the lines that it prints there."""
    results = []
    for block in _CONSOLE.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = part.splitlines()
            results.append((command, lines))
    return results


def masked(line: str) -> str:
    """Return a line without its numbers and the width of its columns."""
    return " ".join(_NUMBER.sub("0", line).split())


@pytest.fixture
def desk(tmp_path, ready_target, new_boards):
    """Return a folder with the examples of a clone, in which to type commands; a Pico is empty."""
    ready_target("unix")
    ready_target("rp2040")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def typed(command: str, folder: Path) -> str:
    """Run a command of a page, and return what it prints."""
    words = shlex.split(command)
    start = {"mpconnxr": [sys.executable, "-m", "tools.cli"], "python": [sys.executable]}
    completed = subprocess.run(
        [*start.get(words[0], words[:1]), *words[1:]],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert completed.returncode == 0, f"{command}\n{completed.stdout}"
    return completed.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tutorial-sensor", "tutorial-quantize"])
def test_the_commands_of_a_tutorial_print_what_it_quotes(name, desk):
    page = (ROOT / "docs" / f"{name}.md").read_text()
    for file, text in _SAVED.findall(page):
        (desk / file).write_text(text)
    for command, lines in exchanges(page):
        printed = {masked(line) for line in typed(command, desk).splitlines()}
        missing = {masked(line) for line in lines if line != "…"} - printed
        assert not missing, command


@pytest.mark.slow
def test_the_program_of_the_sensor_tutorial_answers_on_the_emulated_pico(desk, ready_target):
    page = (ROOT / "docs" / "tutorial-sensor.md").read_text()
    [program] = re.findall(r"this `main\.py`:\n\n```python\n(.*?)```", page, re.S)
    (desk / "main.py").write_text(program)
    for command, _ in exchanges(page):
        if " monitor " not in command:
            typed(command, desk)
    with ready_target("rp2040").board(desk / "cache" / "rp2040.flash") as board:
        remote = [sys.executable, "-m", "mpremote", "connect", board.port]
        subprocess.run([*remote, "fs", "cp", str(desk / "sensor.py"), ":"], check=True, timeout=60)
        command = [*remote, "run", str(desk / "main.py")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            answers = [child.stdout.readline().strip() for _ in range(12)]
            child.kill()
    assert set(answers) == {"still", "shake", "lift"}


def test_the_tutorials_quote_their_commands():
    for name in ("tutorial-sensor", "tutorial-quantize"):
        page = (ROOT / "docs" / f"{name}.md").read_text()
        assert sum(len(lines) for _, lines in exchanges(page)) > 20
