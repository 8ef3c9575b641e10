"""Compute extreme products on this computer before a model with such products is trusted.

The functions take `ort_session.open_plain` as an argument, because that module imports this one.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import onnx

from . import exact
from .exact.nodes import Inexact, OrtError
from .exact.probes import Probe, model_of, probes
from .exact.products import Products

Opens = Callable[[onnx.ModelProto], Any]


def check(operators: Iterable[str], open_plain: Opens) -> None:
    """Check that the reference computes operators exactly on this computer."""
    results = (of_reference(operator, open_plain) for operator in operators)
    wrong = {name for result in results for name, is_exact in result.items() if not is_exact}
    if wrong:
        version = importlib.metadata.version("onnxruntime")
        which = ", ".join(sorted(wrong))
        raise Inexact(f"onnxruntime {version} does not compute {which} exactly on this computer")


@cache
def of_reference(operator: str, open_plain: Opens) -> dict[str, bool]:
    """Return True for each probe that the reference computes exactly, by the probe's name."""
    return _results(operator, lambda model: open_plain(exact.replaced(model, Products())))


@cache
def of_onnxruntime(operator: str, open_plain: Opens) -> dict[str, bool]:
    """Return True for each probe that onnxruntime alone computes exactly, by the probe's name."""
    return _results(operator, open_plain)


def operators() -> list[str]:
    """Return the operators that have probes, in order."""
    return list(dict.fromkeys(p.operator for p in _probes()))


@cache
def _probes() -> tuple[Probe, ...]:
    return tuple(probes())


def _results(operator, open_model):
    own = [p for p in _probes() if p.operator == operator]
    is_met = dict.fromkeys((p.name for p in own), True)
    try:
        session = open_model(model_of(own))
        outputs = session.run(None, {f"x{i}": p.inputs[0] for i, p in enumerate(own)})
    except OrtError:
        return dict.fromkeys(is_met, False)
    for p, y in zip(own, outputs, strict=True):
        is_met[p.name] &= p.is_met(y)
    return is_met
