"""The commands of the README work for a newcomer, in an empty folder.

The wheel replaces the clone, so that only its own contents are found.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519
from onnx import numpy_helper

from tests.host import pages
from tools.converter.reference import golden

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def script():
    """Return train.py."""
    return re.search(r"^This is `train.py`:\n\n```python\n(.*?)```", README, re.M | re.S)[1]


def commands():
    """Return the commands to type, in order."""
    block = re.search(r"```console\n(.*?)```", README, re.S)[1]
    return re.findall(r"^\$ (.*)$", block, re.M)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "-w", str(folder), str(ROOT)], check=True, timeout=300)
    (path,) = folder.glob("mpconnxr-*.whl")
    return path


def test_the_wheel_contains_what_users_run(wheel):
    """It contains neither tests nor what only tests need."""
    names = zipfile.ZipFile(wheel).namelist()
    rooms = {name.split("/")[1] for name in names if name.startswith("mpconnxr_host/")}
    rooms = {room for room in rooms if "." not in room}
    assert rooms == {"boards", "docs", "examples", "tools"}
    assert {"mpconnxr/__init__.py", "mpconnxr/__init__.pyi", "mpconnxr/py.typed"} <= set(names)
    assert not [name for name in names if re.search(r"/(fuzz|watch|guard|tests)/", name)]


def run(command, folder):
    names = (
        "PATH",
        "HOME",
        "LANG",
        "TMPDIR",
        "PIP_INDEX_URL",
        "PIP_CONFIG_FILE",
        "XDG_CACHE_HOME",
        "MPCONNXR_CACHE",
    )
    environment = {name: os.environ[name] for name in names if name in os.environ}
    completed = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert completed.returncode == 0, f"{command}\n{completed.stdout}\n{completed.stderr}"
    assert "Traceback" not in completed.stdout + completed.stderr
    return completed.stdout


def test_there_are_at_most_six_commands():
    assert len(commands()) <= 6


@pytest.fixture(scope="module")
def hour(wheel, tmp_path_factory):
    """Return a folder in which the commands up to the installation were typed."""
    folder = tmp_path_factory.mktemp("hour")
    (folder / "train.py").write_text(script())
    venv, install, *_ = commands()
    assert "-m venv .venv" in venv and install.startswith("pip install ")
    run(venv.replace("python3 ", f"{sys.executable} "), folder)
    run(in_venv(install.replace("'.[emulator]'", f"'{wheel}[emulator,sign]'")), folder)
    return folder


def in_venv(command):
    return f". .venv/bin/activate && {command}"


EACH_HELP = """
import sys
from mpconnxr_host import main
sys.argv = ["mpconnxr", "--version"]
main()
from mpconnxr_host.tools.cli.commands import COMMANDS
for name in COMMANDS:
    try:
        sys.argv = ["mpconnxr", name, "--help"]
        main()
    except SystemExit as stop:
        assert not stop.code, name
"""


@pytest.mark.slow
def test_each_command_works_without_a_clone(hour, tmp_path):
    python = hour / ".venv" / "bin" / "python"
    out = run(f"{python} -c '{EACH_HELP}'", tmp_path)
    assert out.count("usage: mpconnxr ") >= 20


@pytest.mark.slow
def test_the_commands_end_in_verified(hour, ready_target, new_boards):
    ready_target("rp2040")
    for command in commands()[2:]:
        out = run(in_venv(command), hour)
    assert re.search(r"^verified: error [\d.e-]+ where values reach", out, re.M)
    assert re.search(r"^board     Raspberry Pi Pico with RP2040", out, re.M)


# What reads a model and asks no board; the rest of the pages' commands is parsed in test_pages.py.
RUN = (
    "convert",
    "evaluate",
    "quantize",
    "inspect",
    "report",
    "sign",
    "tensor",
    "dist",
    "run",
    "ops",
    "boards",
)


@pytest.fixture
def desk(hour, tmp_path, ready_target):
    """Return a folder with the files that pages take for granted."""
    ready_target("unix")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    digits = tmp_path / "examples" / "digits"
    for name in ("model", "digits"):
        shutil.copy(digits / "digits.onnx", tmp_path / f"{name}.onnx")
    images = np.load(digits / "digits_test.npz")
    x = (images["images"][:40] / 16).astype(np.float32).reshape(-1, 1, 1, 8, 8)
    np.savez(tmp_path / "data.npz", image=x, y=images["labels"][:40])
    np.savez(tmp_path / "calibration.npz", image=x)
    np.savez(tmp_path / "test.npz", x=x, y=images["labels"][:40])
    np.save(tmp_path / "x.npy", x[0])
    [y] = golden.reference(onnx.load(digits / "digits.onnx"), [x[0]])
    np.save(tmp_path / "y.npy", y)
    tensor = numpy_helper.from_array(x[0], "image")
    (tmp_path / "input_0.pb").write_bytes(tensor.SerializeToString())
    key = ed25519.Ed25519PrivateKey.generate()
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain)
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    (tmp_path / "key.pem").write_bytes(private)
    (tmp_path / "pub.pem").write_bytes(key.public_key().public_bytes(pem, public))
    (tmp_path / "labels.txt").write_text("".join(f"{i}\n" for i in range(10)))
    (tmp_path / "secret.key").write_bytes(bytes(range(32)))
    return tmp_path


@pytest.mark.slow
def test_the_commands_of_the_pages_run(hour, desk):
    """They run in the order of each page, if their files exist."""
    activate = f". {hour}/.venv/bin/activate && "
    run(f"{activate} mpconnxr convert model.onnx", desk)
    ran = []
    for words in [words for page in pages.PAGES for words in pages.commands(page)]:
        paths = [w for w in words[1:] if re.search(r"\.(onnx|bin|npy|npz|pb|pem|key)$", w)]
        is_pattern = any(mark in word for word in words for mark in ("[", "…", "|"))
        if words[0] not in RUN or is_pattern or not paths or not (desk / paths[0]).exists():
            continue
        run(f"{activate} mpconnxr {' '.join(words)}", desk)
        ran.append(words)
    assert len(ran) >= 15
    assert {words[0] for words in ran} >= {"convert", "inspect", "sign", "tensor", "run", "dist"}
