"""Random single-node models of each operator that has several versions, at each of them.

A file makes the models of a family of operators, with @makes (see making.py); files are found by
themselves. onnxruntime computes what is due at that opset; where it has not the operator, and the
version is the newest, onnx's reference evaluator does.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from ..ms.making import Made
from . import making
from .making import Version, versions_of


def versions() -> list[Version]:
    """Return the versions that have models, of operators with several, in order."""
    _load_all()
    return [v for v in versions_of() if (v.domain, v.operator) in making.MAKERS]


def models(version: Version, most: int) -> Iterator[Made]:
    """Yield up to so many cases of a version. Raises ImportError without onnxruntime."""
    _load_all()
    yield from making.models(version, most)


def _load_all():
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
