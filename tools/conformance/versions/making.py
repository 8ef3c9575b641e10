"""How random models of an operator's versions are written, and who says what is due.

    @makes("Clip")
    def clip(draw, v):
        x = draw.floats(draw.shape(), v.dtype(draw))
        if v.since < 11:
            return One([x], {"min": -0.5})
        return One([x, np.float32(-0.5)])

A maker's draws depend on nothing but the version: models are the same ones each time.
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

from ..ms.making import Draw, Made, One, run

__all__ = ["MAKERS", "Draw", "One", "Version", "makes", "models", "versions_of"]

OLDEST = 7  # opset
ML = "ai.onnx.ml"
MAKERS: dict[tuple[str, str], Callable] = {}
_NEW = 23  # opset from which on onnxruntime lacks some versions
# What the reference evaluator gets wrong: rounds side by side, a sort that was not asked for.
_MISJUDGED = ("Loop", "Unique")
_TRIES = 6  # draws for a model that onnxruntime takes

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
    """A version of an operator: since, until: the first and the last opset that have it."""

    domain: str
    operator: str
    since: int
    until: int
    is_newest: bool

    @property
    def name(self) -> str:
        """Operator and version, as ONNX's pages name them."""
        return f"{self.operator}-{self.since}"

    @property
    def first(self) -> int:
        """The first opset with it that this project reads."""
        return self.since if self.domain else max(self.since, OLDEST)

    @property
    def schema(self) -> defs.OpSchema:
        """What ONNX says of this version."""
        return defs.get_schema(self.operator, self.since, self.domain)

    def dtype(self, draw: Draw, i: int = 0, among: str = "", but: str = "") -> np.dtype:
        """Draw a dtype of input i that this version allows.

        Args:
            draw: where it is drawn from.
            i: the input.
            among: the names to choose from, all of numpy's numbers by default.
            but: names that are left out.

        """
        allowed = self.dtypes(i)
        wanted = among.split() or sorted(allowed)
        names = [n for n in wanted if n in allowed and n not in but.split()]
        if "float32" in names and draw.chance(0.5):
            return np.dtype("float32")
        return np.dtype(names[draw.size(0, len(names) - 1)])

    def dtypes(self, i: int = 0) -> set[str]:
        """Return numpy's names of the dtypes that this version allows for input i."""
        names = {"float": "float32", "double": "float64"}
        found = {t.removeprefix("tensor(")[:-1] for t in self.schema.inputs[i].types}
        return {names.get(t, t) for t in found} & _PLAIN

    def has(self, attribute: str) -> bool:
        """Return True if this version has the attribute."""
        return attribute in self.schema.attributes


_PLAIN = {"float16", "float32", "float64", "bool"}
_PLAIN |= {f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64)}


def makes(*operators: str, domain: str = ""):
    """Declare a maker: maker(draw, version) returns a model of these operators."""

    def declare(maker):
        for operator in operators:
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
    found = []
    for (domain, operator), numbers in sorted(since.items()):
        numbers = sorted(numbers)
        lasts = [n - 1 for n in numbers[1:]] + [_last(domain, operator)]
        own = [
            Version(domain, operator, first, until, first == numbers[-1])
            for first, until in zip(numbers, lasts, strict=True)
            if domain or until >= OLDEST
        ]
        found += own if len(own) > 1 else []
    return found


def _last(domain, operator):
    """The last opset that has it: the newest, or the one before it was deprecated."""
    newest = defs.onnx_opset_version() if not domain else 5
    while defs.get_schema(operator, newest, domain).deprecated:
        newest -= 1
    return newest


def models(version: Version, most: int) -> Iterator[Made]:
    """Yield up to so many cases of a version, each with what is due."""
    draw = Draw(zlib.crc32(f"{version.domain}{version.name}".encode()))
    maker = MAKERS[version.domain, version.operator]
    made = 0
    for number in range(most * _TRIES):
        if made == most:
            return
        case = _model(version, number, maker(draw, version), draw)
        if case is not None:
            made += 1
            yield case


def _model(version, number, one, draw):
    """The case; None where nobody computes it."""
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
    """True if onnx's reference evaluator may say what is due."""
    if version.domain or version.operator in _MISJUDGED:
        return False
    return version.since >= _NEW


def _by_reference(model: onnx.ModelProto, feed: dict) -> list[np.ndarray]:
    """Compute outputs by onnx's reference evaluator. Raises OrtError, as onnxruntime would."""
    try:
        with np.errstate(all="ignore"):
            found = ReferenceEvaluator(model).run(None, feed)
    except Exception as e:  # whatever numpy raises
        raise OrtError(type(e).__name__, str(e)) from None
    if not all(isinstance(y, np.ndarray) for y in found):
        raise OrtError("TypeError", "no array")
    return found
