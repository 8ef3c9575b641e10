"""Cases of onnxruntime's own operators (com.microsoft): random, computed by onnxruntime.

A file makes the cases of a family of operators, with @makes (see making.py). Files are found by
themselves. A case that onnxruntime refuses is left out.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator

from . import making


def operators() -> list[str]:
    """Those that have cases."""
    _load_all()
    return sorted(making.MAKERS)


def models(operator: str) -> Iterator[making.Made]:
    """The cases of an operator that onnxruntime runs. Raises ImportError without onnxruntime."""
    _load_all()
    for number, asked in enumerate(making.asked(operator)):
        made = making.run(operator, number, asked)
        if made is not None:
            yield made


def is_possible() -> bool:
    """Whether onnxruntime, which computes what is due, is installed."""
    return importlib.util.find_spec("onnxruntime") is not None


def _load_all():
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
