"""The oldest versions that pyproject.toml allows work, and give the same files as today's.

MPCONNXR_LONG=1 installs them; that takes a minute, and a package index.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

from examples.digits.demo import HERE
from tests.host.test_install import PROJECT

ROOT = Path(__file__).parents[2]
LONG = os.environ.get("MPCONNXR_LONG") == "1"
OLDEST_PYTHON = (3, 11)
DEPENDENCIES = [Requirement(text) for text in PROJECT["dependencies"]]


def bounds(requirement: Requirement, operator: str) -> list[str]:
    """Return the versions that a requirement compares with by an operator."""
    return [s.version for s in requirement.specifier if s.operator == operator]


@pytest.mark.parametrize("requirement", DEPENDENCIES, ids=lambda r: r.name)
def test_each_dependency_has_an_oldest_version(requirement):
    assert len(bounds(requirement, ">=")) == 1
    assert {s.operator for s in requirement.specifier} <= {">=", "<"}


def test_a_newest_version_has_a_reason_beside_it():
    text = (ROOT / "pyproject.toml").read_text()
    block = re.search(r"^dependencies = \[\n(.*?)^\]", text, re.M | re.S).group(1)
    bounded = [line for line in block.splitlines() if "<" in line.partition("#")[0]]
    assert bounded and all("# " in line for line in bounded), bounded


def test_the_oldest_python_is_that_of_the_tests_and_of_the_classifiers():
    assert PROJECT["requires-python"] == ">=" + ".".join(map(str, OLDEST_PYTHON))
    assert "Programming Language :: Python :: 3.11" in PROJECT["classifiers"]


@pytest.fixture(scope="module")
def oldest(tmp_path_factory):
    """Return the Python of an environment with the oldest version of each dependency."""
    folder = tmp_path_factory.mktemp("oldest")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pins = [f"{r.name}=={bounds(r, '>=')[0]}" for r in DEPENDENCIES]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *pins], check=True)
    subprocess.run([python, "-m", "pip", "check"], check=True)
    return python


def command(python, *args) -> None:
    """Run a command of mpconnxr from the clone."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([python, "-m", "tools.cli", *map(str, args)], check=True, env=environment)


@pytest.mark.slow
@pytest.mark.skipif(not LONG, reason="MPCONNXR_LONG=1 installs the oldest versions")
@pytest.mark.skipif(sys.version_info[:2] != OLDEST_PYTHON, reason="of the oldest Python alone")
@pytest.mark.parametrize("name", ["convert", "quantize"])
def test_the_oldest_versions_write_the_same_file(name, oldest, tmp_path):
    model = HERE / "digits.onnx"
    images = np.load(HERE / "digits_test.npz")["images"][:20].reshape(-1, 1, 1, 8, 8)
    np.save(tmp_path / "images.npy", images.astype(np.float32) / 16)
    options = ["--calibration", tmp_path / "images.npy"] if name == "quantize" else []
    for python, file in ((oldest, "old.bin"), (sys.executable, "new.bin")):
        command(python, name, model, tmp_path / file, *options)
    assert (tmp_path / "old.bin").read_bytes() == (tmp_path / "new.bin").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(not LONG, reason="MPCONNXR_LONG=1 installs the oldest versions")
@pytest.mark.skipif(sys.version_info[:2] != OLDEST_PYTHON, reason="of the oldest Python alone")
@pytest.mark.parametrize("name", ["inspect", "report", "run", "flash", "completion", "ops"])
def test_a_command_works_with_the_oldest_versions(name, oldest, tmp_path):
    file, model = tmp_path / "digits.bin", HERE / "digits.onnx"
    command(sys.executable, "convert", model, file)
    arguments = {
        "inspect": [file],
        "report": [model, tmp_path / "digits.html"],
        "run": [file, "--random", "2", "--compare", model],
        "flash": [file, "--to", tmp_path / "board", "--board", "pico"],
        "completion": ["bash"],
        "ops": [model],
    }
    command(oldest, name, *arguments[name])
