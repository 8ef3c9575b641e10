"""The other models on a board: an update of the package must not leave them behind."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from . import answers, modules
from .device import Device
from .errors import DeployError
from .slots import Slots

_CODE = (Path(__file__).parent / "on_board_models.py").read_text()


@dataclass(frozen=True)
class Other:
    """A model file on the board. version: of its format; kernels: their names."""

    path: str
    version: int
    kernels: tuple[str, ...]

    def problem(self, version: int, package: modules.Package | None) -> str:
        """Why a package that reads this version of the format cannot load it, "" if it can."""
        if self.version != version:
            return f"{self.path} (format {self.version}, the new code reads {version})"
        lacking = [k for k in self.kernels if package and not package.has_kernel(k)]
        return f"{self.path} (needs the kernel {lacking[0]})" if lacking else ""


def others(device: Device, folders: Iterable[str], own: Slots) -> list[Other]:
    """The active models in the folders and below, but the one of these slots."""
    mine = {own.path, own.file("a"), own.file("b")}
    device.execute(_CODE)
    lines = device.execute(f"models({sorted(set(folders))!r})", slow=True)
    kind = tuple[str, int, list[bytes]]
    models = answers.parsed_lines(lines, kind, "a model's path, format and kernels")
    found = {path: rest for path, *rest in models}
    return [
        Other(path, version, tuple(k.decode(errors="replace") for k in kernels))
        for path, (version, kernels) in sorted(found.items())
        if path not in mine
    ]


def programs(device: Device, folders: Iterable[str], without: Collection[str]) -> set[str]:
    """Names of the programs that models on the board may have, but those in some files."""
    device.execute(_CODE)
    lines = device.execute(f"programs({sorted(set(folders))!r})", slow=True)
    found = answers.parsed_lines(lines, tuple[str, bytes], "a model's path and digest")
    return {f"m{digest.hex()}" for path, digest in found if path not in without}


def refuse_stranding(
    found: list[Other], version: int, package: modules.Package | None, is_allowed: bool
) -> str:
    """Raises DeployError, or where that is allowed says why, if a package cannot load them all.

    version: of the format that it reads; package: None where its kernels are not known.
    """
    problems = [text for other in found if (text := other.problem(version, package))]
    if problems and not is_allowed:
        raise DeployError(
            f"the new code could not load other models on the board: {'; '.join(problems)}. "
            "Convert them again and copy them under new names, give the kernels that are your "
            "own with --ops, or give --strand to leave those models behind"
        )
    return "; ".join(problems)
