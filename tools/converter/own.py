"""A user's own operators: a folder of lowerings, given by --ops, for domains that are allowed.

FOLDER/*.py declare lowerings as the files in tools/converter/ops do; FOLDER/device/*.py are the
kernels, which go into mpconnxr/ops/ on the board. See docs/custom-operators.md.
"""

from __future__ import annotations

import importlib.util
import itertools
import pkgutil
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tools import package

from . import ops
from .errors import UsageError

_SERIAL = itertools.count()


@dataclass(frozen=True)
class Operators:
    """The project's lowerings and a user's.

    own: those of the user that may be used; refused: (domain, operator) of the others, whose
    domains are not allowed.
    """

    own: Mapping[tuple[str, str, bool], ops.Lowering] = field(default_factory=dict)
    refused: frozenset[tuple[str, str]] = frozenset()

    def lowering_of(
        self, domain: str, op_type: str, objects: bool | None = None
    ) -> ops.Lowering | None:
        """The lowering of an operator, or None. objects: as in ops.lowering_of."""
        found = ops.lowering_of(domain, op_type, objects)
        return found or ops.found_in(self.own, domain, op_type, objects)

    def is_own(self, domain: str, op_type: str) -> bool:
        """True for an operator that a lowering of the user's serves."""
        return ops.found_in(self.own, domain, op_type) is not None

    def is_refused(self, domain: str, op_type: str) -> bool:
        """True for an operator that the folder serves, of a domain that is not allowed."""
        return (domain, op_type) in self.refused

    def hint(self, domain: str, op_type: str) -> str:
        """What the user can do about an operator without a lowering."""
        if self.is_refused(domain, op_type):
            return f"--ops has a kernel for it: --allow-domain {_plain(domain)} uses it"
        if _plain(domain) in ("ai.onnx", "ai.onnx.ml", "com.microsoft"):
            return ""
        return f"--ops FOLDER --allow-domain {domain} use a kernel of your own"


def operators(folder: Path | None, domains: Collection[str]) -> Operators:
    """The project's lowerings, and those of a folder for these domains.

    Raises UsageError where the folder cannot be used.
    """
    if folder is None:
        return Operators()
    kernels_in(folder)
    found = _load(folder)
    allowed = {_plain(domain) for domain in domains}
    refused = [key for key in found if _plain(key[0]) not in allowed]
    return Operators(
        {key: found[key] for key in found if key not in refused},
        frozenset(key[:2] for key in refused),
    )


def _load(folder):
    """The lowerings that the folder declares.

    It is imported as a package of a new name, so that its files can import each other.
    """
    name = f"mpconnxr_own_{next(_SERIAL)}"
    spec = importlib.util.spec_from_loader(name, None, is_package=True)
    package = importlib.util.module_from_spec(spec)
    package.__path__ = [str(folder.resolve())]
    sys.modules[name] = package
    table = ops.separate(name)
    try:
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{name}.{module.name}")
    except Exception as e:  # the user's own code may raise anything
        raise UsageError(f"--ops {folder}: {type(e).__name__}: {e}") from e
    return table


def kernels_in(folder: Path | None) -> dict[str, Path]:
    """The device's files of a folder for --ops, by their names in mpconnxr/ops/.

    Raises UsageError where there is no such folder, or one would replace the project's own.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        raise UsageError(f"--ops {folder}: this is not a folder")
    found = {path.name: path for path in sorted((folder / "device").glob("*.py"))}
    for name, path in found.items():
        if any((package.KERNELS / taken).exists() for taken in (name, f"_{name}")):
            raise UsageError(f"--ops: {path} has the name of a kernel of mpconnxr: rename it")
    return found


def _plain(domain):
    return domain or "ai.onnx"
