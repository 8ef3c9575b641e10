"""MicroPython's source, from wherever this machine can get it.

`MICROPYTHON_SRC` (a folder) wins; else Debian's source package, through the mirror the system uses
already; else MicroPython's own repository. Unpacked once into the cache folder.
"""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from .aptmirror import download_source
from .cache import cache_folder, locked
from .errors import TargetError

VERSION = "1.25.0"
DEBIAN_SUITE = "trixie"  # the release of Debian that has exactly this version
REPOSITORY = "https://github.com/micropython/micropython"

# Parts of the source that no build reads.
UNUSED = ("docs", "tests", "logo", "examples")


def _user_tree() -> Path | None:
    """`MICROPYTHON_SRC`, checked."""
    name = os.environ.get("MICROPYTHON_SRC")
    if not name:
        return None
    tree = Path(name).expanduser().resolve()
    if not (tree / "py" / "mpconfig.h").is_file():
        raise TargetError(f"MICROPYTHON_SRC={name} is not MicroPython's source folder")
    return tree


@cache
def source_key() -> str:
    """Which source the builds are of; part of the name they have in the cache folder."""
    tree = _user_tree()
    if tree is None:
        return VERSION
    head = subprocess.run(
        ["git", "-C", str(tree), "rev-parse", "HEAD"], capture_output=True, text=True
    )
    return "user-" + hashlib.sha256(f"{tree} {head.stdout}".encode()).hexdigest()[:10]


def source_tree() -> Path:
    """The unpacked source, fetched when it is not there yet. Not to be written to."""
    tree = _user_tree() or cache_folder() / f"source-{VERSION}"
    if not tree.is_dir():
        with locked("source"):
            if not tree.is_dir():
                _fetch(tree)
    return tree


def _fetch(tree: Path) -> None:
    """Get the source by the first way that works, and move it into place when it is complete."""
    reasons = []
    for way in (_from_debian, _from_git):
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="fetch-") as folder:
            try:
                found = way(Path(folder))
            except TargetError as error:
                reasons.append(str(error))
                continue
            for name in UNUSED:
                shutil.rmtree(found / name, ignore_errors=True)
            found.rename(tree)
            return
    raise TargetError(
        f"cannot get MicroPython {VERSION} ({'; '.join(reasons)}); "
        "set MICROPYTHON_SRC to a folder with its source"
    )


def _from_debian(folder: Path) -> Path:
    archive = download_source("micropython", DEBIAN_SUITE, folder)
    if not archive.name.startswith(f"micropython_{VERSION}"):
        raise TargetError(f"the mirror has {archive.name}, not version {VERSION}")
    unpacked = folder / "unpacked"
    with tarfile.open(archive) as tar:
        # Python 3.11's earlier patch releases do not know extraction filters.
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(unpacked, **safely)
    return next(unpacked.iterdir())


def _from_git(folder: Path) -> Path:
    if not shutil.which("git"):
        raise TargetError("git is not installed")
    tree = folder / "micropython"
    clone = ["git", "clone", "--quiet", "--depth=1", f"--branch=v{VERSION}", REPOSITORY, str(tree)]
    done = subprocess.run(clone, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise TargetError(f"git: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    return tree
