"""A user's own operators: a folder of lowerings, given by --ops, for domains that are allowed.

FOLDER/*.py declare lowerings as the files in tools/converter/ops do; FOLDER/device/*.py are the
kernels, which go into mpconnxr/ops/ on the board. See docs/custom-operators.md.
"""

from __future__ import annotations

import importlib.util
import itertools
import pkgutil
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from . import ops
from .errors import UsageError

OPS = Path(__file__).resolve().parents[2] / "mpconnxr" / "ops"
_SERIAL = itertools.count()
# Operators of the folder whose domains are not allowed.
_refused: ContextVar[frozenset[tuple[str, str]]] = ContextVar("refused", default=frozenset())


@contextmanager
def operators(folder: Path | None, domains: Collection[str]) -> Iterator[None]:
    """While it lasts, the folder's lowerings of these domains are used.

    Raises UsageError where the folder cannot be used.
    """
    with ops.separate() as table:
        if folder is not None:
            kernels_in(folder)
            _load(folder)
        allowed = {_plain(domain) for domain in domains}
        refused = [key for key in table if _plain(key[0]) not in allowed]
        for key in refused:
            del table[key]
        token = _refused.set(frozenset(key[:2] for key in refused))
        try:
            yield
        finally:
            _refused.reset(token)


def _load(folder):
    """Imports the folder as a package of a new name, so that its files can import each other."""
    name = f"mpconnxr_own_{next(_SERIAL)}"
    spec = importlib.util.spec_from_loader(name, None, is_package=True)
    package = importlib.util.module_from_spec(spec)
    package.__path__ = [str(folder.resolve())]
    sys.modules[name] = package
    try:
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{name}.{module.name}")
    except Exception as e:  # the user's own code may raise anything
        raise UsageError(f"--ops {folder}: {type(e).__name__}: {e}") from e


def is_refused(domain: str, op_type: str) -> bool:
    """True for an operator that the folder serves, of a domain that is not allowed."""
    return (domain, op_type) in _refused.get()


def hint(domain: str, op_type: str) -> str:
    """What the user can do about an operator without a lowering."""
    if is_refused(domain, op_type):
        return f"--ops has a kernel for it: --allow-domain {_plain(domain)} lets it be used"
    if _plain(domain) in ("ai.onnx", "ai.onnx.ml", "com.microsoft"):
        return ""
    return f"--ops FOLDER --allow-domain {domain} use a kernel of your own"


def kernels_in(folder: Path | None) -> dict[str, Path]:
    """The device's files of a folder for --ops, by their names in mpconnxr/ops/.

    Raises UsageError where there is no such folder, or one would replace the project's own.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        raise UsageError(f"--ops {folder}: this is no folder")
    found = {path.name: path for path in sorted((folder / "device").glob("*.py"))}
    for name, path in found.items():
        if any((OPS / taken).exists() for taken in (name, f"_{name}")):
            raise UsageError(f"--ops: {path} has the name of a kernel of mpconnxr: rename it")
    return found


def _plain(domain):
    return domain or "ai.onnx"
