"""Random cases of onnxruntime's own operators (com.microsoft), with outputs by onnxruntime.

Each module makes the cases of a family of operators with @makes (see making.py); all modules of
this package are imported automatically. Cases that onnxruntime refuses are omitted.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator

from . import making


def operators() -> list[str]:
    """Return the operators that have cases."""
    _load_all()
    return sorted(making.MAKERS)


def models(operator: str) -> Iterator[making.NodeCase]:
    """Yield the cases of an operator that onnxruntime runs.

    Raises:
        ImportError: without onnxruntime.
    """
    _load_all()
    for number, spec in enumerate(making.specs_of(operator)):
        case = making.run(operator, number, spec)
        if case is not None:
            yield case


def is_possible() -> bool:
    """Return True if onnxruntime, which computes the expected outputs, is installed."""
    return importlib.util.find_spec("onnxruntime") is not None


def _load_all():
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
