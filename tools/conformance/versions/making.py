"""Declare random models of an operator's versions, and compute their expected outputs.

    @makes("Clip")
    def clip(draw, v):
        x = draw.floats(draw.shape(), v.dtype(draw))
        if v.since < 11:
            return Spec([x], {"min": -0.5})
        return Spec([x, np.float32(-0.5)])

The random numbers depend only on the version, so that every call makes the same models.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import onnx
from onnx import defs
from onnx.reference import ReferenceEvaluator

from tools.converter.reference.ort_session import OrtError

from ..ms.making import Draw, NodeCase, Spec, run, trimmed

__all__ = ["MAKERS", "Draw", "Spec", "Version", "makes", "models", "trimmed", "versions_of"]

OLDEST = 7  # opset
ML = "ai.onnx.ml"
MAKERS: dict[tuple[str, str], Callable] = {}
_NEW = 23  # first opset of which onnxruntime lacks some versions
# Operators that the reference evaluator gets wrong.
_MISJUDGED = ("Loop", "Unique")
_TRIES = 6  # draws to get a model that onnxruntime accepts

# Why operators of several versions have no models here.
NOT_COMPARED = {
    "Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike": (
        "random values; the cases of `node` and `old` look at their shapes"
    ),
    "Optional OptionalGetElement OptionalHasElement": (
        "onnxruntime's Python takes no optionals; the cases of `node` and `old` have them"
    ),
    "SplitToSequence": "its output is a sequence; the cases of `node` and `old` have it",
    "Constant": "no input; in every model as the attribute `value`, and in the cases of `node`",
}


@dataclass(frozen=True)
class Version:
    """A version of an operator.

    Attributes:
        since: first opset that has it.
        until: last opset that has it.
        is_newest: no later version exists.
    """

    domain: str
    operator: str
    since: int
    until: int
    is_newest: bool

    @property
    def name(self) -> str:
        """Operator and version, joined as in "Clip-11"."""
        return f"{self.operator}-{self.since}"

    @property
    def first(self) -> int:
        """First opset with this version that mpconnxr reads."""
        return self.since if self.domain else max(self.since, OLDEST)

    @property
    def schema(self) -> defs.OpSchema:
        """ONNX's schema of this version."""
        return defs.get_schema(self.operator, self.since, self.domain)

    def dtype(self, draw: Draw, i: int = 0, among: str = "", but: str = "") -> np.dtype:
        """Draw a dtype of input i that this version allows.

        Args:
            draw: source of random numbers.
            i: the input.
            among: names to choose from; default: all of numpy's numeric dtypes.
            but: names to exclude.
        """
        allowed = self.dtypes(i)
        candidates = among.split() or sorted(allowed)
        names = [n for n in candidates if n in allowed and n not in but.split()]
        if "float32" in names and draw.chance(0.5):
            return np.dtype("float32")
        return np.dtype(names[draw.size(0, len(names) - 1)])

    def dtypes(self, i: int = 0) -> set[str]:
        """Return numpy's names of the dtypes that this version allows for input i."""
        names = {"float": "float32", "double": "float64"}
        types = {t.removeprefix("tensor(")[:-1] for t in self.schema.inputs[i].types}
        return {names.get(t, t) for t in types} & _PLAIN

    def has(self, attribute: str) -> bool:
        """Return True if this version has the attribute."""
        return attribute in self.schema.attributes


_PLAIN = {"float16", "float32", "float64", "bool"}
_PLAIN |= {f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)}


def makes(*operators: str, domain: str = ""):
    """Declare a maker: maker(draw, version) returns the Spec of a model of these operators.

    Args:
        operators: names, several of them separated by spaces.
        domain: domain of the operators.
    """

    def declare(maker):
        for operator in " ".join(operators).split():
            if (domain, operator) in MAKERS:
                raise ValueError(f"two makers for {operator}")
            MAKERS[domain, operator] = maker
        return maker

    return declare


@cache
def versions_of() -> list[Version]:
    """Return all versions, current at opset 7 or later, of the operators that have several."""
    since = defaultdict(list)
    for schema in defs.get_all_schemas_with_history():
        if schema.domain in ("", ML) and not schema.deprecated:
            since[schema.domain, schema.name].append(schema.since_version)
    versions = []
    for (domain, operator), numbers in sorted(since.items()):
        numbers = sorted(numbers)
        lasts = [n - 1 for n in numbers[1:]] + [_last(domain, operator)]
        own = [
            Version(domain, operator, first, until, first == numbers[-1])
            for first, until in zip(numbers, lasts, strict=True)
            if domain or until >= OLDEST
        ]
        versions += own if len(own) > 1 else []
    return versions


def _last(domain, operator):
    """Return the last opset with the operator: the newest, or the one before its deprecation."""
    newest = defs.onnx_opset_version() if not domain else 5
    while defs.get_schema(operator, newest, domain).deprecated:
        newest -= 1
    return newest


def models(version: Version, most: int) -> Iterator[NodeCase]:
    """Yield at most `most` cases of a version."""
    draw = Draw(zlib.crc32(f"{version.domain}{version.name}".encode()))
    maker = MAKERS[version.domain, version.operator]
    n_made = 0
    for number in range(most * _TRIES):
        if n_made == most:
            return
        case = _model(version, number, maker(draw, version), draw)
        if case is not None:
            n_made += 1
            yield case


def _model(version, number, one, draw):
    """Return the case of a Spec; None if nothing can compute its outputs.

    Args:
        version: the version of the operator.
        number: number of the case.
        one: the Spec; its opset is set.
        draw: draws numbers.
    """
    one.domain, last = version.domain, min(version.until, version.first + 3)
    if version.domain:
        one.version, one.opset = version.since, 17
    else:
        one.opset = draw.size(version.first, last) if draw.chance(0.3) else version.first
    case = run(version.operator, number, one)
    if case is None and version.is_newest and _is_judged(version):
        case = run(version.operator, number, one, _by_reference)
    if case is not None:
        case.name = f"{version.name}_{number:02}"
    return case


def _is_judged(version):
    """Return True if onnx's reference evaluator may compute the expected outputs."""
    if version.domain or version.operator in _MISJUDGED:
        return False
    return version.since >= _NEW


def _by_reference(model: onnx.ModelProto, feed: dict) -> list[np.ndarray]:
    """Compute outputs by onnx's reference evaluator. Raises OrtError, as onnxruntime would."""
    try:
        with np.errstate(all="ignore"):
            outputs = ReferenceEvaluator(model).run(None, feed)
    except Exception as e:  # numpy raises various types
        raise OrtError(type(e).__name__, str(e)) from None
    if not all(isinstance(y, np.ndarray) for y in outputs):
        raise OrtError("TypeError", "an output is not an array")
    return outputs
