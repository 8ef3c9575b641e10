"""Lowerings: what each ONNX operator becomes on the device. One operator family a file.

A file declares its functions with @lowers; every file in this folder is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

_LOWERINGS: dict[tuple[str, str], Lowering] = {}


class Lowering:
    """lower(node) emits steps for a node; fixes_shape: indices of inputs that decide a shape."""

    def __init__(self, lower: Callable, fixes_shape: tuple[int, ...]):
        self.lower = lower
        self.fixes_shape = fixes_shape


def lowers(*op_types: str, domain: str = "", fixes_shape: tuple[int, ...] = ()):
    """Declares the decorated function as the lowering of these operators, at every opset.

    fixes_shape: inputs (axes, shape, starts, repeats, ...) that must be known at conversion.
    """

    def declare(lower):
        for op_type in op_types:
            if (domain, op_type) in _LOWERINGS:
                raise ValueError(f"two lowerings for {domain}::{op_type}")
            _LOWERINGS[domain, op_type] = Lowering(lower, fixes_shape)
        return lower

    return declare


@cache
def _load_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def lowering_of(domain: str, op_type: str) -> Lowering | None:
    """The lowering of an operator, or None."""
    _load_all()
    return _LOWERINGS.get(("" if domain == "ai.onnx" else domain, op_type))
