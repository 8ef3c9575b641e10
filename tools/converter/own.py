"""A user's own operators: lowerings and kernels in the folder of --ops, for allowed domains.

FOLDER/*.py declare lowerings as the modules of tools/converter/ops do. FOLDER/device/*.py are
kernels, which go to mpconnxr/ops/ on the board. See docs/custom-operators.md.
"""

from __future__ import annotations

import importlib.util
import itertools
import pkgutil
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tools import package

from . import ops
from .errors import UsageError

_SERIAL = itertools.count()


@dataclass(frozen=True)
class Operators:
    """The operators that a conversion may use: the project's and the user's.

    Attributes:
        own: the user's lowerings in allowed domains.
        refused: (domain, operator) of the user's lowerings in other domains.
    """

    own: Mapping[tuple[str, str, bool], ops.Lowering] = field(default_factory=dict)
    refused: frozenset[tuple[str, str]] = frozenset()

    def lowering_of(
        self, domain: str, op_type: str, objects: bool | None = None
    ) -> ops.Lowering | None:
        """Return the lowering of an operator, or None (see ops.lowering_of)."""
        lowering = ops.lowering_of(domain, op_type, objects)
        return lowering or ops.find(self.own, domain, op_type, objects)

    def is_own(self, domain: str, op_type: str) -> bool:
        """Return True if a lowering of the user's serves the operator."""
        return ops.find(self.own, domain, op_type) is not None

    def is_refused(self, domain: str, op_type: str) -> bool:
        """Return True if the folder has a lowering for it, but its domain is not allowed."""
        return (domain, op_type) in self.refused

    def hint(self, domain: str, op_type: str) -> str:
        """Return advice for the user about an operator without a lowering, or ""."""
        if self.is_refused(domain, op_type):
            return f"--ops has a kernel for it: --allow-domain {_plain(domain)} uses it"
        if _plain(domain) in ("ai.onnx", "ai.onnx.ml", "com.microsoft"):
            return ""
        return f"--ops FOLDER --allow-domain {domain} use a kernel of your own"


def operators(folder: Path | None, domains: Collection[str]) -> Operators:
    """Collect the project's lowerings and, for these domains, those in a folder.

    Raises:
        UsageError: if the folder cannot be used.
    """
    if folder is None:
        return Operators()
    kernels_in(folder)
    lowerings = _load(folder)
    allowed = {_plain(domain) for domain in domains}
    own = {key: lowerings[key] for key in lowerings if _plain(key[0]) in allowed}
    return Operators(own, frozenset(key[:2] for key in lowerings if key not in own))


def _load(folder):
    """Import the folder and return the lowerings that it declares.

    Each import makes a package with a new name, so that the folder's files can import each other.
    """
    name = f"mpconnxr_own_{next(_SERIAL)}"
    spec = importlib.util.spec_from_loader(name, None, is_package=True)
    package = importlib.util.module_from_spec(spec)
    package.__path__ = [str(folder.resolve())]
    sys.modules[name] = package
    table = ops.separate(name)
    try:
        with _tools_importable():
            for module in pkgutil.iter_modules(package.__path__):
                importlib.import_module(f"{name}.{module.name}")
    except Exception as e:  # the user's own code may raise anything
        raise UsageError(f"--ops {folder}: {type(e).__name__}: {e}") from e
    return table


@contextmanager
def _tools_importable() -> Iterator[None]:
    """Let the user's files import `tools.converter`, which a wheel has below mpconnxr_host."""
    top = __name__.removesuffix("tools.converter.own")
    others = {}
    for name, module in tuple(sys.modules.items()):
        if top and name.startswith(f"{top}tools"):
            short = name.removeprefix(top)
            others[short], sys.modules[short] = sys.modules.get(short), module
    try:
        yield
    finally:
        for name, module in others.items():
            if module:
                sys.modules[name] = module
            else:
                del sys.modules[name]


def kernels_in(folder: Path | None) -> dict[str, Path]:
    """Return the kernels in a folder for --ops, by their file names in mpconnxr/ops/.

    Raises:
        UsageError: if the folder does not exist, or has a kernel with the name of a built-in one.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        raise UsageError(f"--ops {folder}: this is not a folder")
    kernels = {path.name: path for path in sorted((folder / "device").glob("*.py"))}
    for name, path in kernels.items():
        if any((package.KERNELS / taken).exists() for taken in (name, f"_{name}")):
            raise UsageError(f"--ops: {path} has the name of a kernel of mpconnxr: rename it")
    return kernels


def _plain(domain):
    return domain or "ai.onnx"
