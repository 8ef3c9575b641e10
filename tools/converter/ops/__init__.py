"""Lowerings: what each ONNX operator becomes on the device. One operator family a file.

A file declares its functions with @lowers; every file in this folder is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

# by domain, operator type, and whether for strings and maps
_LOWERINGS: dict[tuple[str, str, bool], Lowering] = {}


class Lowering:
    """lower(node) emits steps for a node; fixes_shape: indices of inputs that decide a shape.

    at_run_time: it can do without their contents if its outputs have shapes.
    """

    def __init__(self, lower: Callable, fixes_shape: tuple[int, ...], at_run_time: bool):
        self.lower = lower
        self.fixes_shape = fixes_shape
        self.at_run_time = at_run_time


def lowers(
    *op_types: str,
    domain: str = "",
    fixes_shape: tuple[int, ...] = (),
    at_run_time: bool = False,
    objects: bool = False,
):
    """Declares the decorated function as the lowering of these operators, at every opset.

    fixes_shape: inputs (axes, shape, starts, repeats, ...) that must be known at conversion,
        unless the lowering is one that works at_run_time;
    objects: this one is for nodes with strings or maps among inputs and outputs.
    """

    def declare(lower):
        for op_type in op_types:
            key = (domain, op_type, objects)
            if key in _LOWERINGS:
                raise ValueError(f"two lowerings for {domain}::{op_type}")
            _LOWERINGS[key] = Lowering(lower, fixes_shape, at_run_time)
        return lower

    return declare


@cache
def _load_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def lowering_of(domain: str, op_type: str, objects: bool | None = None) -> Lowering | None:
    """The lowering of an operator, or None. objects: for strings and maps; None: for either."""
    _load_all()
    domain = "" if domain == "ai.onnx" else domain
    kinds = (False, True) if objects is None else (objects,)
    found = [_LOWERINGS.get((domain, op_type, kind)) for kind in kinds]
    return next(filter(None, found), None)
