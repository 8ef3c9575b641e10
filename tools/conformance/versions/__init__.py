"""Random single-node models of each operator that has several versions, at each of them.

Each module makes the models of a family of operators with @makes (see making.py); all modules of
this package are imported automatically. onnxruntime computes the expected outputs at that opset.
If it lacks the newest version, onnx's reference evaluator does.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from ..ms.making import NodeCase
from . import making
from .making import Version, versions_of


def versions() -> list[Version]:
    """Return the versions that have models, of operators with several versions, in order."""
    _load_all()
    return [v for v in versions_of() if (v.domain, v.operator) in making.MAKERS]


def models(version: Version, most: int) -> Iterator[NodeCase]:
    """Yield at most `most` cases of a version.

    Raises:
        ImportError: without onnxruntime.
    """
    _load_all()
    yield from making.models(version, most)


def _load_all():
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
