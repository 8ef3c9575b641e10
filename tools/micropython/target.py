"""Base class of all targets."""

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
    """Result of a script: its output, its traceback, and 0 if it succeeded."""

    stdout: str
    stderr: str
    returncode: int


@dataclass(frozen=True)
class Target(ABC):
    """A MicroPython that scripts can run on.

    Attributes:
        name: name of the target.
        about: a line for the list of targets.
        recipe: how to build it.
        word_bits: size of a small integer's machine word.
        float_bits: size of a float.
        viper: the firmware compiles @micropython.viper.
        arch: value of mpy-cross's -march; "" if it does not run native code.
        build_packages: system packages needed to build it.
        run_packages: system packages needed to run it.
    """

    name: str
    about: str
    recipe: Recipe | NpmRecipe
    word_bits: int
    float_bits: int
    viper: bool
    arch: str
    build_packages: tuple[Package, ...]
    run_packages: tuple[Package, ...] = ()

    def path(self) -> Path:
        """Return the path of the executable or firmware, built or not."""
        return self.recipe.path(self.name)

    def missing(self) -> list[str]:
        """Return the missing packages that running the target needs, or building it."""
        built = self.path().is_file()
        return missing_of(self.run_packages + (() if built else self.build_packages))

    def build(self) -> Path:
        """Build the target if needed; return its executable or firmware.

        Raises:
            TargetError: if packages are missing or the build fails.
        """
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
        """Reject a build with the wrong word size: a make variable has lost its meaning."""
        done = self.run("import sys\nprint(sys.maxsize)")
        maxsize = done.stdout.strip()
        if maxsize != str((1 << self.word_bits - 1) - 1):
            product.unlink(missing_ok=True)
            raise TargetError(
                f"{self.name} was built with another size of words than {self.word_bits} bits: "
                f"sys.maxsize is {maxsize or done.stderr.strip()[-200:]}"
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
        """Run a script in its own process.

        Its current folder, also first on sys.path, contains `files`; sys.argv is ["script",
        *args].

        Args:
            script: source text or a file.
            files: {name: contents, or path of a file or folder}.
            args: arguments for the script.
            timeout: seconds after which the process is killed.
            heap: size of the heap in bytes; unix targets only.
            on_line: called with each line of stdout as it comes.
            icount: let time count instructions, equal in every run; QEMU targets only.

        Raises:
            TargetTimeout: if the script does not end in time.
            TargetError: if the target cannot run it, or does not support an option.
        """

    def _refuse(self, option: str) -> TargetError:
        return TargetError(f"{self.name} cannot be run with {option}")
