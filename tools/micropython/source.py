"""MicroPython's source, from wherever this machine can get it.

`MICROPYTHON_SRC` (a folder) wins; else an archive in `MICROPYTHON_SOURCES`; else Debian's source
package, through the mirror the system uses already; else MicroPython's own repository. Unpacked
once into the cache folder. Libraries that a port needs and Debian's package leaves out come from
Debian or their own repositories, too.
"""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..cache import cache_folder, locked
from .aptmirror import download_binary, download_source
from .errors import TargetError

VERSION = "1.25.0"
DEBIAN_SUITE = "trixie"  # the release of Debian that has exactly this version
SUITES = {VERSION: DEBIAN_SUITE, "1.26.1": "sid"}
ROOT = Path(__file__).parents[2]
REPOSITORY = "https://github.com/micropython/micropython"

# Parts of the source that no build reads.
UNUSED = ("docs", "tests", "logo", "examples")

Way = Callable[[Path], Path]  # a folder to work in -> the source, inside it


@dataclass(frozen=True)
class Library:
    """A folder of MicroPython's lib/ that is a repository of its own.

    package: Debian's; inside: where the files are in a binary package, "" for a source package.
    """

    name: str
    package: str
    inside: str
    repository: str
    tag: str


PICO_SDK = Library(
    "pico-sdk",
    "pico-sdk-source",
    "usr/src/pico-sdk",
    "https://github.com/raspberrypi/pico-sdk",
    "2.1.1",
)
TINYUSB = Library(
    "tinyusb",
    "tinyusb-source",
    "usr/src/tinyusb",
    "https://github.com/hathach/tinyusb",
    "0.18.0",
)
MBEDTLS = Library(
    "mbedtls",
    "mbedtls",
    "",
    "https://github.com/Mbed-TLS/mbedtls",
    "v3.6.2",
)


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
def source_key(version: str = "") -> str:
    """Which source the builds are of; part of the name they have in the cache folder.

    version: one that was asked for, which `MICROPYTHON_SRC` does not replace.
    """
    tree = None if version else _user_tree()
    if tree is None:
        return version or VERSION
    head = subprocess.run(
        ["git", "-C", str(tree), "rev-parse", "HEAD"], capture_output=True, text=True
    )
    return "user-" + hashlib.sha256(f"{tree} {head.stdout}".encode()).hexdigest()[:10]


def source_tree(version: str = "") -> Path:
    """The unpacked source, fetched when it is not there yet. Not to be written to."""
    tree = None if version else _user_tree()
    if tree:
        return tree
    wanted = version or VERSION
    return _fetched(
        f"source-{wanted}",
        f"MicroPython {wanted}",
        [
            lambda folder: _from_archive(wanted, folder),
            lambda folder: _from_debian(wanted, folder),
            lambda folder: _from_own_repository(wanted, folder),
        ],
        f"set MICROPYTHON_SOURCES to a folder with micropython-{wanted}.tar.xz"
        if version
        else "set MICROPYTHON_SRC to a folder with its source",
    )


def archive_of(version: str) -> Path | None:
    """An archive of this version's source on this machine, a preview of it too; None for none."""
    folder = Path(os.environ.get("MICROPYTHON_SOURCES") or ROOT.parent / "shared" / "micropython")
    found = sorted(folder.glob(f"micropython-{version}.tar.*"))
    found += sorted(folder.glob(f"micropython-{version}-preview*.tar.*"))
    return found[0] if found else None


def library_tree(library: Library) -> Path:
    """The library's files, fetched when they are not there yet. Not to be written to."""
    return _fetched(
        f"{library.name}-{library.tag}",
        library.name,
        [
            lambda folder: _library_from_debian(library, folder),
            lambda folder: _from_git(library.repository, library.tag, folder),
        ],
        "set MICROPYTHON_SRC to a clone of MicroPython with its submodules",
    )


def _fetched(name: str, what: str, ways: Sequence[Way], advice: str) -> Path:
    """The folder `name` of the cache, made complete by the first of `ways` that works."""
    tree = cache_folder() / name
    if tree.is_dir():
        return tree
    with locked("source"):
        if not tree.is_dir():
            _fetch(tree, what, ways, advice)
    return tree


def _fetch(tree: Path, what: str, ways: Sequence[Way], advice: str) -> None:
    reasons = []
    for way in ways:
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="fetch-") as folder:
            try:
                found = way(Path(folder))
            except TargetError as error:
                reasons.append(str(error))
                continue
            found.rename(tree)
            return
    raise TargetError(f"cannot get {what} ({'; '.join(reasons)}); {advice}")


def _from_archive(version: str, folder: Path) -> Path:
    archive = archive_of(version)
    if not archive:
        raise TargetError("no archive of it in MICROPYTHON_SOURCES")
    return _without_unused(_unpacked(archive, folder))


def _from_debian(version: str, folder: Path) -> Path:
    suite = SUITES.get(version)
    if not suite:
        raise TargetError("Debian has no such version")
    archive = download_source("micropython", suite, folder)
    if not archive.name.startswith(f"micropython_{version}"):
        raise TargetError(f"the mirror has {archive.name}, not version {version}")
    return _without_unused(_unpacked(archive, folder))


def _from_own_repository(version: str, folder: Path) -> Path:
    return _without_unused(_from_git(REPOSITORY, f"v{version}", folder))


def _without_unused(tree: Path) -> Path:
    for name in UNUSED:
        shutil.rmtree(tree / name, ignore_errors=True)
    return tree


def _library_from_debian(library: Library, folder: Path) -> Path:
    if not library.inside:
        return _unpacked(download_source(library.package, DEBIAN_SUITE, folder), folder)
    package = download_binary(library.package, DEBIAN_SUITE, folder)
    done = subprocess.run(["dpkg", "-x", package, folder / "unpacked"], capture_output=True)
    if done.returncode:
        raise TargetError(f"dpkg cannot unpack {package.name}")
    return folder / "unpacked" / library.inside


def _unpacked(archive: Path, folder: Path) -> Path:
    unpacked = folder / "unpacked"
    with tarfile.open(archive) as tar:
        # Python 3.11's earlier patch releases do not know extraction filters.
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(unpacked, **safely)
    return next(unpacked.iterdir())


def _from_git(repository: str, tag: str, folder: Path) -> Path:
    if not shutil.which("git"):
        raise TargetError("git is not installed")
    tree = folder / "tree"
    clone = ["git", "clone", "--quiet", "--depth=1", f"--branch={tag}", repository, str(tree)]
    done = subprocess.run(clone, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise TargetError(f"git: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    return tree
