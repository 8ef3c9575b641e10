"""Lowerings: what each ONNX operator becomes on the device. One operator family a file.

A file declares its functions with @lowers; every file in this folder is found by itself.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

# Domains of operators: this project's, which rewrites make, and others' than ONNX's own.
OWN, ML, MS = "mpconnxr", "ai.onnx.ml", "com.microsoft"

# by domain, operator type, and whether for strings and maps
Table = dict[tuple[str, str, bool], "Lowering"]
_LOWERINGS: Table = {}
_SEPARATE: dict[str, Table] = {}  # by package, of lowerings that are not the project's


class Lowering:
    """lower(node) emits steps for a node; fixes_shape: indices of inputs that decide a shape.

    at_run_time: those of them without whose contents it can do if its outputs have shapes;
    infer(signature) gives (dtype, shape) of each output where onnx itself does not know them;
    takes(node, types): which nodes it is for, None: all; others become the operator's definition.
    """

    def __init__(
        self,
        lower: Callable,
        fixes_shape: tuple[int, ...],
        at_run_time: tuple[int, ...],
        infer: Callable | None,
        takes: Callable | None,
    ):
        self.lower = lower
        self.fixes_shape = fixes_shape
        self.at_run_time = at_run_time
        self.infer = infer
        self.takes = takes


def lowers(
    *op_types: str,
    domain: str = "",
    fixes_shape: tuple[int, ...] = (),
    at_run_time: tuple[int, ...] = (),
    objects: bool = False,
    infer: Callable | None = None,
    takes: Callable | None = None,
):
    """Declares the decorated function as the lowering of these operators, at every opset.

    fixes_shape: inputs (axes, shape, starts, repeats, ...) that must be known at conversion,
        but for those of them with which the lowering works at_run_time;
    objects: this one is for nodes with strings or maps among inputs and outputs;
    infer: for operators that onnx does not know: infer(node) gives a list of (ONNX dtype number,
    shape), one an output; node is a Signature.
    """

    def declare(lower):
        table = _SEPARATE.get(lower.__module__.partition(".")[0], _LOWERINGS)
        for op_type in op_types:
            key = (_plain(domain), op_type, objects)
            if key in _LOWERINGS or key in table:
                raise ValueError(f"two lowerings for {domain}::{op_type}")
            table[key] = Lowering(lower, fixes_shape, at_run_time, infer, takes)
        return lower

    return declare


@cache
def _load_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def lowering_of(domain: str, op_type: str, objects: bool | None = None) -> Lowering | None:
    """The lowering of an operator, or None. objects: for strings and maps; None: for either."""
    _load_all()
    return found_in(_LOWERINGS, domain, op_type, objects)


def known() -> set[tuple[str, str]]:
    """(domain, operator type) of all lowerings but those for what rewrites make."""
    _load_all()
    return {(domain, op_type) for domain, op_type, _ in _LOWERINGS if domain != OWN}


def found_in(
    table: Table, domain: str, op_type: str, objects: bool | None = None
) -> Lowering | None:
    """The same of a table."""
    kinds = (False, True) if objects is None else (objects,)
    keys = ((_plain(domain), op_type, kind) for kind in kinds)
    return next((table[key] for key in keys if key in table), None)


def separate(package: str) -> Table:
    """A table for what the modules of a package will declare, which are not yet imported."""
    _load_all()
    return _SEPARATE.setdefault(package, {})


def _plain(domain):
    return "" if domain == "ai.onnx" else domain
