"""The source distribution has what its tests need, and the metadata say what the project is."""

import email
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from mpconnxr import __version__

ROOT = Path(__file__).parents[2]
MADE = {"__pycache__", "build", "dist"}
QUICK = ("tests/host/test_install.py", "tests/host/test_imports.py", "tests/host/test_words.py")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """Return the folder of an unpacked source distribution."""
    folder = tmp_path_factory.mktemp("sdist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    with tarfile.open(folder / f"mpconnxr-{__version__}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / f"mpconnxr-{__version__}"


def files(folder: Path) -> set[str]:
    """Return the paths of what people write, below a folder."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {p.as_posix() for p in found if not MADE & set(p.parts) and p.suffix != ".bin"}


@pytest.mark.parametrize(
    "folder", ["benchmarks", "boards", "docs", "examples", "mpconnxr", "tests", "tools", "typings"]
)
def test_the_source_distribution_has_the_files_of_a_clone(folder, unpacked):
    assert files(ROOT / folder) - {"digits/digits.html"} == files(unpacked / folder)


def test_the_source_distribution_has_what_is_beside_the_folders(unpacked):
    names = {"README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md", "Makefile"}
    assert names | {"pyproject.toml", "manifest.py"} <= {p.name for p in unpacked.iterdir()}


def test_metadata_describe_the_project(unpacked):
    about = email.message_from_string((unpacked / "PKG-INFO").read_text(encoding="utf-8"))
    assert about["Name"] == "mpconnxr" and about["Version"] == __version__
    assert about["Author"] == "The mpconnxr developers"
    assert about["License-Expression"] == "MIT" and about["License-File"] == "LICENSE"
    assert about["Description-Content-Type"] == "text/markdown"
    assert about.get_payload().startswith("# mpconnxr")
    assert {"onnx", "micropython"} <= set(about["Keywords"].split(","))


@pytest.mark.slow
def test_quick_tests_pass_in_the_source_distribution(unpacked):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *QUICK]
    environment = os.environ | {"PYTHONPATH": str(unpacked)}
    done = subprocess.run(command, cwd=unpacked, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
