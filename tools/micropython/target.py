"""What every target can do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .errors import TargetError
from .npm import NpmRecipe
from .packages import Package, missing_of
from .process import OnLine
from .recipe import Recipe


class Completed(NamedTuple):
    """A script's end: what it printed, its traceback, and 0 only if it ended well."""

    stdout: str
    stderr: str
    returncode: int


@dataclass(frozen=True)
class Target(ABC):
    """A MicroPython that scripts can run on: how it is built, and what it is like."""

    name: str
    about: str
    recipe: Recipe | NpmRecipe
    word_bits: int
    float_bits: int
    viper: bool
    arch: str  # for mpy-cross's -march, "" where it takes no native code
    build_packages: tuple[Package, ...]
    run_packages: tuple[Package, ...] = ()

    def path(self) -> Path:
        """The executable or firmware, whether it has been built yet or not."""
        return self.recipe.path(self.name)

    def missing(self) -> list[str]:
        """System packages without which it cannot be run, or built if it has not been."""
        built = self.path().is_file()
        return missing_of(self.run_packages + (() if built else self.build_packages))

    def build(self) -> Path:
        """Build it unless that is done, and return its executable or firmware."""
        if not self.path().is_file():
            lacking = self.missing()
            if lacking:
                raise TargetError(
                    f"{self.name} needs system packages: {' '.join(lacking)} "
                    f"(mpconnxr targets install {self.name})"
                )
        was_built = self.path().is_file()
        product = self.recipe.build(self.name)
        if not was_built:
            self._prove(product)
        return product

    def _prove(self, product: Path) -> None:
        """Refuses what was built with other words than it should: a make variable lost its use."""
        done = self.run("import sys\nprint(sys.maxsize)")
        found = done.stdout.strip()
        if found != str((1 << self.word_bits - 1) - 1):
            product.unlink(missing_ok=True)
            raise TargetError(
                f"{self.name} was built with another size of words than {self.word_bits} bits: "
                f"sys.maxsize is {found or done.stderr.strip()[-200:]}"
            )

    @abstractmethod
    def run(
        self,
        script: str | Path,
        files: Mapping[str, bytes | Path] | None = None,
        args: Sequence[str] = (),
        timeout: float = 60,
        heap: int | None = None,
        on_line: OnLine = None,
        icount: bool = False,
    ) -> Completed:
        """Run `script` (source text or a file) in a process of its own.

        The current folder, also first on sys.path, is one with `files` in it: each name's bytes,
        file or folder. sys.argv is ["script", *args]. `on_line` gets each line of stdout as it
        comes. After `timeout` seconds the process is killed: TargetTimeout.

        `heap` (bytes) is for the unix targets, `icount` (time counted in instructions, the same
        in every run) for those in QEMU; elsewhere they are an error.
        """

    def _refuse(self, option: str) -> TargetError:
        return TargetError(f"{self.name} cannot be run with {option}")
