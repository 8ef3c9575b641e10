"""Build a port of MicroPython with given options once, into the cache folder."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tools.progress import progress

from ..cache import cache_folder, locked
from ..made import ROOT
from .errors import TargetError
from .source import UNUSED, Library, library_tree, source_key, source_tree

LOG_TAIL = 15  # lines of a failed build's log in the message

BOARDS = Path(__file__).parent / "boards"
MODULES = ROOT / "tests" / "modules"  # in C, for the unix port; only in a clone

# MicroPython's makefiles expect these files of submodules, though no target here needs them.
SUBMODULE_MARKS = ("lib/micropython-lib/README.md", "lib/pico-sdk/README.md")


@dataclass(frozen=True)
class Recipe:
    """Build instructions of a target: a port, its make variables, and the built file to keep.

    Attributes:
        port: folder of MicroPython's ports/.
        product: name of the built file.
        options: variables for make.
        cflags: further flags for the compiler.
        board: a folder of `BOARDS`, for a board that the port does not have.
        libraries: folders of MicroPython's lib/ that the port needs.
        modules: build the modules in `MODULES` into it.
        version: version of MicroPython; "" for the default.
    """

    port: str
    product: str
    options: tuple[str, ...] = ()
    cflags: str = ""
    board: str = ""
    libraries: tuple[Library, ...] = field(default=(), repr=False)
    modules: bool = field(default=False, repr=False)
    version: str = field(default="", repr=False)

    def path(self, name: str) -> Path:
        """Return where the product for target `name` is or will be."""
        digest = hashlib.sha256("".join(map(repr, (self, *self.libraries))).encode())
        for file in self._own_files():
            digest.update(file.read_bytes())
        base = name.partition("@")[0]
        folder = f"{base}-{source_key(self.version)}-{digest.hexdigest()[:8]}"
        return cache_folder() / folder / self.product

    def _own_files(self) -> list[Path]:
        """Return the files of this project that are built in."""
        return [
            *(_board_files(self.board) if self.board else []),
            *(_files(MODULES) if self.modules else []),
        ]

    def build(self, name: str) -> Path:
        """Build the target unless this or another process has done so; return the product.

        Raises:
            TargetError: if the build fails.
        """
        product = self.path(name)
        if not product.is_file():
            with locked(product.parent.name):
                if not product.is_file():
                    self._build(name, product)
        return product

    def _build(self, name: str, product: Path) -> None:
        source = source_tree(self.version)
        log = product.parent.with_name(f"{product.parent.name}.log")
        print(f"micropython: building {name} (log in {log})", file=sys.stderr, flush=True)
        start = time.monotonic()
        with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="build-") as folder:
            tree = Path(folder) / "micropython"
            _copy_source(source, tree)
            for library in self.libraries:
                _add_library(library, tree)
            with open(log, "w") as output, progress("micropython", f"building {name}"):
                done = subprocess.run(
                    self._make_command(tree),
                    env=self.environment(),
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            built = list((tree / "ports" / self.port).glob(f"build-*/{self.product}"))
            if done.returncode or not built:
                raise TargetError(f"building {name} failed, see {log}\n{_tail(log)}")
            product.parent.mkdir(parents=True, exist_ok=True)
            # Other processes may look for the product: a rename makes it appear complete.
            unfinished = product.with_name(f"{product.name}.new")
            shutil.copy2(built[0], unfinished)
            unfinished.rename(product)
        seconds = time.monotonic() - start
        print(f"micropython: built {name} in {seconds:.0f} s", file=sys.stderr, flush=True)

    def environment(self) -> dict[str, str]:
        """Return the build's environment, without the variables of a `make` that started us."""
        return {name: text for name, text in os.environ.items() if not name.startswith("MAKE")}

    def _make_command(self, tree: Path) -> list[str]:
        return [
            "make",
            f"-j{len(os.sched_getaffinity(0))}",
            f"--directory={tree / 'ports' / self.port}",
            f"PYTHON={sys.executable}",
            "FROZEN_MANIFEST=",
            *([f"BOARD={self.board}", f"BOARD_DIR={BOARDS / self.board}"] if self.board else []),
            *([f"USER_C_MODULES={MODULES}"] if self.modules else []),
            *self.options,
            # A newer compiler may warn about more; a warning must not stop the build.
            f"CFLAGS_EXTRA=-Wno-error {self.cflags}".rstrip(),
        ]


def _board_files(board: str) -> list[Path]:
    """Return the files of a board's folder, and of the folders that its makefile names."""
    makefiles = "".join(f.read_text() for f in (BOARDS / board).glob("mpconfigboard.*"))
    shared = {BOARDS / name for name in re.findall(r"BOARD_DIR[)}]/\.\./(\w+)", makefiles)}
    return _files(BOARDS / board, *shared)


def _files(*folders: Path) -> list[Path]:
    """Return all files in the folders but those in __pycache__."""
    files = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    return sorted(file for file in files if file.parent.name != "__pycache__")


def _copy_source(source: Path, tree: Path) -> None:
    """Copy the source tree, since a build leaves files in it."""

    def skip(folder: str, names: list[str]) -> set[str]:
        unused = {*UNUSED, ".git"} if Path(folder) == source else set()
        return {name for name in names if name in unused or name.startswith("build-")}

    shutil.copytree(source, tree, ignore=skip, symlinks=True)
    for mark in SUBMODULE_MARKS:
        (tree / mark).parent.mkdir(parents=True, exist_ok=True)
        (tree / mark).touch()


def _add_library(library: Library, tree: Path) -> None:
    """Copy a library into the tree unless the source already has it."""
    folder = tree / "lib" / library.name
    marks = {Path(mark).name for mark in SUBMODULE_MARKS}
    if not {path.name for path in folder.glob("*")} - marks:
        shutil.copytree(library_tree(library), folder, symlinks=True, dirs_exist_ok=True)


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-LOG_TAIL:])
