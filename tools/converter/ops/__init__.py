"""Lowerings: which kernel steps each ONNX operator becomes. One module for an operator family.

A module declares its functions with @lowers. All modules of this folder are imported when the
first lowering is looked up, so that a new operator needs no list.

Lowerings and their helpers get a Node as `node` and emit steps to it. They raise Problem for what
no kernel serves.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

# Domains of operators other than ONNX's own. OWN: of those that rewrites make.
OWN, ML, MS = "mpconnxr", "ai.onnx.ml", "com.microsoft"

# by (domain, operator type, for nodes with strings or maps)
Table = dict[tuple[str, str, bool], "Lowering"]
_LOWERINGS: Table = {}
_SEPARATE: dict[str, Table] = {}  # tables of users' packages, by package


class Lowering:
    """The lowering of an operator.

    Attributes:
        lower: lower(node) emits the steps of a node.
        fixes_shape: indices of inputs whose contents decide the shape of an output.
        at_run_time: indices in `fixes_shape` of inputs that may stay unknown if the outputs have
            shapes.
        infer: infer(signature) returns (dtype, shape) of each output, for operators unknown to
            onnx.
        takes: takes(node, types) returns True for nodes that `lower` serves; others are replaced
            by the operator's definition. None if it serves all.
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
    """Register the decorated function as the lowering of these operators, at every opset.

    Args:
        *op_types: the operators.
        domain: domain of the operators.
        fixes_shape: indices of inputs (axes, shape, starts, repeats, ...) that have to be known at
            conversion, except those in `at_run_time`.
        at_run_time: indices of inputs that the lowering can leave to the run.
        objects: the lowering is for nodes with strings or maps among their inputs and outputs.
        infer: for operators unknown to onnx: infer(signature) returns a list of (ONNX dtype
            number, shape), one for each output.
        takes: takes(node, types) returns True for nodes that the lowering serves (None: all).
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
    """Return the lowering of an operator, or None.

    Args:
        domain: its domain.
        op_type: its name.
        objects: True for nodes with strings or maps, False for others, None for either.
    """
    _load_all()
    return find(_LOWERINGS, domain, op_type, objects)


def known() -> set[tuple[str, str]]:
    """Return (domain, operator type) of all lowerings, except of operators that rewrites make."""
    _load_all()
    return {(domain, op_type) for domain, op_type, _ in _LOWERINGS if domain != OWN}


def find(table: Table, domain: str, op_type: str, objects: bool | None = None) -> Lowering | None:
    """Return the lowering of an operator in a table, or None.

    Args:
        table: {(domain, operator, is for objects): lowering}.
        domain: ONNX domain.
        op_type: operator.
        objects: True for strings and maps, False for numbers, None for either.
    """
    kinds = (False, True) if objects is None else (objects,)
    keys = ((_plain(domain), op_type, kind) for kind in kinds)
    return next((table[key] for key in keys if key in table), None)


def separate(package: str) -> Table:
    """Return the table for the lowerings of a user's package, which is not yet imported."""
    _load_all()
    return _SEPARATE.setdefault(package, {})


def _plain(domain):
    return "" if domain == "ai.onnx" else domain
