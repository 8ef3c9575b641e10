"""The README, as somebody follows it who has nothing: its file, its commands, in an empty folder.

The wheel takes the clone's place, so that nothing but what it brings is found.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def script():
    """train.py: the first block in Python."""
    return re.search(r"```python\n(.*?)```", README, re.S)[1]


def commands():
    """What is typed, in order."""
    block = re.search(r"```console\n(.*?)```", README, re.S)[1]
    return re.findall(r"^\$ (.*)$", block, re.M)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", str(folder), str(ROOT)], check=True, timeout=300)
    (path,) = folder.glob("mpconnxr-*.whl")
    return path


def run(command, folder):
    names = (
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "PIP_INDEX_URL",
        "PIP_CONFIG_FILE",
        "XDG_CACHE_HOME",
    )
    environment = {name: os.environ[name] for name in names if name in os.environ}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stdout + done.stderr
    return done.stdout


def test_there_are_at_most_six_commands():
    assert len(commands()) <= 6


@pytest.mark.slow
def test_the_commands_end_in_verified(wheel, ready_target, tmp_path):
    ready_target("rp2040")
    folder = tmp_path / "empty"
    folder.mkdir()
    (folder / "train.py").write_text(script())
    venv, *typed = commands()
    assert "-m venv .venv" in venv
    run(venv.replace("python3 ", f"{sys.executable} "), folder)
    for command in typed:
        command = command.replace("'.[emulator]'", f"'{wheel}[emulator]'")
        out = run(f". .venv/bin/activate && {command}", folder)
    assert re.search(r"^verified: error [\d.e-]+ where values reach", out, re.M)
    assert re.search(r"^board     Raspberry Pi Pico with RP2040", out, re.M)
    installed = run(". .venv/bin/activate && mpconnxr boards && mpconnxr ops digits.onnx", folder)
    assert "pico" in installed and "MatMul" in installed
