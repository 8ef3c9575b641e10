"""Print the versions that answers depend on, this computer, and its self-test."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator

from mpconnxr import __version__

_PACKAGES = ("onnxruntime", "onnx", "numpy")
_ABSENT = "is not installed"
_SHOWN = {True: "exact", False: "NOT exact"}


def text(is_verbose: bool) -> str:
    """Return the version of mpconnxr; if verbose, also what answers depend on, a line each."""
    return "\n".join([f"mpconnxr {__version__}", *(_details() if is_verbose else ())])


def _details() -> Iterator[str]:
    from tools.converter.reference import cpu, self_test
    from tools.converter.reference.ort_session import open_plain

    yield from (f"{name} {_version(name)}" for name in _PACKAGES)
    yield f"Python {platform.python_version()} on {platform.platform()}"
    yield f"CPU: {cpu.description()}"
    if mode := os.environ.get("MPCONNXR_ORT"):
        yield f"MPCONNXR_ORT={mode}"
    if _version("onnxruntime") == _ABSENT:
        return
    yield ""
    yield f"{'products of 8-bit integers':32}{'onnxruntime':14}reference"
    for operator in self_test.operators():
        alone = self_test.of_onnxruntime(operator, open_plain)
        for name, is_exact in self_test.of_reference(operator, open_plain).items():
            yield f"{name:32}{_SHOWN[alone[name]]:14}{_SHOWN[is_exact]}"


def _version(package):
    import importlib.metadata

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return _ABSENT
