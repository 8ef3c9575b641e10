"""Values inside of a model, next to onnxruntime's: where the differences begin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

_NAME_WIDTH = 50


class Layers:
    """What --layers says of each value that both sides have, over all samples."""

    def __init__(self, operators: Mapping[str, str]):
        self._operators = operators
        self._layers: dict[str, _Layer] = {}

    def add(self, got: Iterable[tuple[str, np.ndarray]], expected: Mapping[str, np.ndarray]):
        """One sample's values. Those of another dtype or shape are other values: they don't count.

        got: (name, array), in the order of the steps.
        """
        for name, a in got:
            b = expected.get(name)
            if b is None or a.dtype != b.dtype or a.shape != b.shape or a.dtype.kind not in "biuf":
                continue
            self._layers.setdefault(name, _Layer(a)).add(a, b)

    def figures(self) -> list[dict]:
        """Of each: name, operator, dtype, shape, identical (part of the elements), and how far.

        steps: the largest difference of integers; relative: that of floats as a part of the
        largest value expected; the other is None.
        """
        return [
            {"name": name, "operator": self._operators.get(name, "")} | layer.figures()
            for name, layer in self._layers.items()
        ]


class _Layer:
    def __init__(self, like):
        self._dtype, self._shape = like.dtype, like.shape
        self._n = self._same = 0
        self._most = self._largest = 0.0

    def add(self, a, b):
        a, b = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(invalid="ignore"):
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            apart = np.where(same, 0, np.abs(a - b))
        apart = np.where(np.isnan(apart), np.inf, apart)  # NaN on one side only
        self._n += a.size
        self._same += int(np.count_nonzero(same))
        self._most = max(self._most, apart.max(initial=0))
        self._largest = max(self._largest, np.abs(b[np.isfinite(b)]).max(initial=0))

    def figures(self):
        is_float = self._dtype.kind == "f"
        return {
            "dtype": str(self._dtype),
            "shape": list(self._shape),
            "identical": self._same / self._n if self._n else 1.0,
            "steps": None if is_float else self._most,
            "relative": self._most / (self._largest or 1.0) if is_float else None,
        }


def table(layers: list[dict]) -> list[str]:
    """Lines for people."""
    rows = [("value", "operator", "dtype", "elements", "identical", "apart")]
    for layer in layers:
        elements = int(np.prod(layer["shape"], dtype=np.int64))
        identical = f"{layer['identical']:.2%}"
        about = (shortened(layer["name"]), layer["operator"], layer["dtype"])
        rows.append((*about, f"{elements:,}", identical, _apart(layer)))
    return aligned(rows, right=(3, 4))


def aligned(rows: list[tuple[str, ...]], right: tuple[int, ...]) -> list[str]:
    """Lines of columns two spaces apart; right: columns that end in line."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            text.rjust(width) if i in right else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def shortened(name: str) -> str:
    """Its end: that is where the names of one model differ."""
    return name if len(name) <= _NAME_WIDTH else f"…{name[1 - _NAME_WIDTH :]}"


def _apart(layer):
    if layer["relative"] is not None:
        return f"{layer['relative']:.1e} of the largest" if layer["relative"] else "0"
    steps = layer["steps"]
    return f"{steps:g} step{'' if steps == 1 else 's'}" if steps else "0"
