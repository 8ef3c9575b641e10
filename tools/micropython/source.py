"""Fetch MicroPython's source from the first place that has it, once, into the cache folder.

In order: the folder `MICROPYTHON_SRC`, an archive in the folder `MICROPYTHON_SOURCES`, Debian's
source package from the system's mirror, MicroPython's repository. Libraries that a port needs and
that Debian's package lacks come from Debian or from their own repositories.
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
from ..made import ROOT
from .aptmirror import download_binary, download_source
from .errors import TargetError

VERSION = "1.25.0"
DEBIAN_SUITE = "trixie"  # the release of Debian that has this version
SUITES = {VERSION: DEBIAN_SUITE, "1.26.1": "sid"}

REPOSITORY = "https://github.com/micropython/micropython"

# Parts of the source that no build reads.
UNUSED = ("docs", "tests", "logo", "examples")

Fetcher = Callable[[Path], Path]  # takes a folder to work in, returns the source inside it


@dataclass(frozen=True)
class Library:
    """A folder of MicroPython's lib/ that is a separate repository.

    Attributes:
        name: name of the folder.
        package: Debian's package.
        inside: folder of the files in a binary package; "" for a source package.
        repository: URL to clone.
        tag: the version to clone.
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
    """Return the folder `MICROPYTHON_SRC`; None if it is not set.

    Raises:
        TargetError: if it is not MicroPython's source.
    """
    name = os.environ.get("MICROPYTHON_SRC")
    if not name:
        return None
    tree = Path(name).expanduser().resolve()
    if not (tree / "py" / "mpconfig.h").is_file():
        raise TargetError(f"MICROPYTHON_SRC={name} is not MicroPython's source folder")
    return tree


@cache
def source_key(version: str = "") -> str:
    """Return the part of cached builds' names that identifies their source.

    Args:
        version: an explicit version, which `MICROPYTHON_SRC` does not replace.
    """
    tree = None if version else _user_tree()
    if tree is None:
        return version or VERSION
    head = subprocess.run(
        ["git", "-C", str(tree), "rev-parse", "HEAD"], capture_output=True, text=True
    )
    return "user-" + hashlib.sha256(f"{tree} {head.stdout}".encode()).hexdigest()[:10]


def source_tree(version: str = "") -> Path:
    """Return the unpacked source, fetched if needed. Nobody may write to it."""
    tree = None if version else _user_tree()
    if tree:
        return tree
    number = version or VERSION
    return _fetched(
        f"source-{number}",
        f"MicroPython {number}",
        [
            lambda folder: _from_archive(number, folder),
            lambda folder: _from_debian(number, folder),
            lambda folder: _from_own_repository(number, folder),
        ],
        f"set MICROPYTHON_SOURCES to a folder with micropython-{number}.tar.xz"
        if version
        else "set MICROPYTHON_SRC to a folder with its source",
    )


def archive_of(version: str) -> Path | None:
    """Return this computer's archive of a version's source, or of its preview; else None."""
    folder = Path(os.environ.get("MICROPYTHON_SOURCES") or ROOT.parent / "shared" / "micropython")
    archives = sorted(folder.glob(f"micropython-{version}.tar.*"))
    archives += sorted(folder.glob(f"micropython-{version}-preview*.tar.*"))
    return archives[0] if archives else None


def library_tree(library: Library) -> Path:
    """Return a library's files, fetched if needed. Nobody may write to them."""
    return _fetched(
        f"{library.name}-{library.tag}",
        library.name,
        [
            lambda folder: _library_from_debian(library, folder),
            lambda folder: _from_git(library.repository, library.tag, folder),
        ],
        "set MICROPYTHON_SRC to a clone of MicroPython with its submodules",
    )


def _fetched(name: str, what: str, fetchers: Sequence[Fetcher], advice: str) -> Path:
    """Return a folder of the cache, which the first fetcher that succeeds fills.

    Args:
        name: name of the folder.
        what: what it holds, for messages.
        fetchers: functions of a folder to work in, which return the fetched folder.
        advice: what the user can do if all fail.
    """
    tree = cache_folder() / name
    if tree.is_dir():
        return tree
    with locked("source"):
        if not tree.is_dir():
            _fetch(tree, what, fetchers, advice)
    return tree


def _fetch(tree: Path, what: str, fetchers: Sequence[Fetcher], advice: str) -> None:
    """Fill a folder by the first fetcher that succeeds: see _fetched.

    Raises:
        TargetError: with the reasons of all fetchers.
    """
    reasons = []
    for fetch in fetchers:
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="fetch-") as folder:
            try:
                source = fetch(Path(folder))
            except TargetError as error:
                reasons.append(str(error))
                continue
            source.rename(tree)
            return
    raise TargetError(f"cannot get {what} ({'; '.join(reasons)}); {advice}")


def _from_archive(version: str, folder: Path) -> Path:
    archive = archive_of(version)
    if not archive:
        raise TargetError("MICROPYTHON_SOURCES has no archive of it")
    return _without_unused(_unpacked(archive, folder))


def _from_debian(version: str, folder: Path) -> Path:
    suite = SUITES.get(version)
    if not suite:
        raise TargetError("Debian does not have this version")
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
        # Early patch releases of Python 3.11 have no extraction filters.
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
