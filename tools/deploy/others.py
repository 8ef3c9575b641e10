"""Find the other models on a board: an update of the package must not leave them unloadable."""

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
    """Another model on the board.

    Attributes:
        path: its file.
        version: format version of the file.
        kernels: names of the kernels that it uses.
    """

    path: str
    version: int
    kernels: tuple[str, ...]

    def problem(self, version: int, package: modules.Package | None) -> str:
        """Return why a package that reads a format version cannot load the model; "" if it can."""
        if self.version != version:
            return f"{self.path} (format {self.version}, the new code reads {version})"
        lacking = [k for k in self.kernels if package and not package.has_kernel(k)]
        return f"{self.path} (needs the kernel {lacking[0]})" if lacking else ""


def others(device: Device, folders: Iterable[str], own: Slots) -> list[Other]:
    """Return the active models in the folders and below, except the one in `own`."""
    mine = {own.path, own.file("a"), own.file("b")}
    device.execute(_CODE)
    lines = device.execute(f"models({sorted(set(folders))!r})", slow=True)
    kind = tuple[str, int, list[bytes]]
    models = answers.parsed_lines(lines, kind, "a model's path, format and kernels")
    models_by_path = {path: rest for path, *rest in models}
    return [
        Other(path, version, tuple(k.decode(errors="replace") for k in kernels))
        for path, (version, kernels) in sorted(models_by_path.items())
        if path not in mine
    ]


def programs(device: Device, folders: Iterable[str], without: Collection[str]) -> set[str]:
    """Return the names of the programs of models on the board, except in files `without`."""
    device.execute(_CODE)
    lines = device.execute(f"programs({sorted(set(folders))!r})", slow=True)
    digests = answers.parsed_lines(lines, tuple[str, bytes], "a model's path and digest")
    return {f"m{digest.hex()}" for path, digest in digests if path not in without}


def refuse_stranding(
    other_models: list[Other], version: int, package: modules.Package | None, is_allowed: bool
) -> str:
    """Check that a package can load all other models on the board.

    Args:
        other_models: the other models.
        version: format version that the package reads.
        package: the package; None if its kernels are not known.
        is_allowed: models may become unloadable.

    Returns:
        The reasons why models become unloadable, "" if none does.

    Raises:
        DeployError: if a model becomes unloadable and that is not allowed.
    """
    problems = [text for other in other_models if (text := other.problem(version, package))]
    if problems and not is_allowed:
        raise DeployError(
            f"the new code could not load other models on the board: {'; '.join(problems)}. "
            "Convert them again and copy them under new names, give the kernels that are your "
            "own with --ops, or give --strand to leave those models behind"
        )
    return "; ".join(problems)
