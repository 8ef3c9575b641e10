"""Compare values inside of a model with onnxruntime's, to see where differences begin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from tools.converter.reference.compare import distances

_NAME_WIDTH = 50


class Layers:
    """Statistics of each value that both sides have, over all samples, for --layers."""

    def __init__(self, operators: Mapping[str, str]):
        self._operators = operators
        self._layers: dict[str, _Layer] = {}

    def add(self, got: Iterable[tuple[str, np.ndarray]], expected: Mapping[str, np.ndarray]):
        """Add one sample's values. Values of another dtype or shape are skipped.

        Args:
            got: (name, array), in the order of the steps.
            expected: onnxruntime's arrays by name.
        """
        for name, a in got:
            b = expected.get(name)
            if b is None or a.dtype != b.dtype or a.shape != b.shape or a.dtype.kind not in "biuf":
                continue
            self._layers.setdefault(name, _Layer(a)).add(a, b)

    def figures(self) -> list[dict]:
        """Return the figures of each value.

        Returns:
            For each value name, operator, dtype, shape, identical (part of the elements); steps:
            largest difference of integers; relative: largest difference of floats as a part of the
            largest expected value. Of the last two the one that does not apply is None.
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
        error = distances(a, b)
        self._n += a.size
        self._same += int(np.count_nonzero(error == 0))
        self._most = max(self._most, error.max(initial=0))
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
    """Return the figures as lines of a table."""
    rows = [("value", "operator", "dtype", "elements", "identical", "apart")]
    for layer in layers:
        elements = int(np.prod(layer["shape"], dtype=np.int64))
        identical = f"{layer['identical']:.2%}"
        about = (shortened(layer["name"]), layer["operator"], layer["dtype"])
        rows.append((*about, f"{elements:,}", identical, _apart(layer)))
    return aligned(rows, right=(3, 4))


def aligned(rows: list[tuple[str, ...]], right: tuple[int, ...]) -> list[str]:
    """Return rows as lines with aligned columns, two spaces apart.

    Args:
        rows: cells.
        right: indices of columns that are aligned to the right.
    """
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            text.rjust(width) if i in right else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def shortened(name: str) -> str:
    """Return the end of a long name: there the names of one model differ."""
    return name if len(name) <= _NAME_WIDTH else f"…{name[1 - _NAME_WIDTH :]}"


def _apart(layer):
    if layer["relative"] is not None:
        return f"{layer['relative']:.1e} of the largest" if layer["relative"] else "0"
    steps = layer["steps"]
    return f"{steps:g} step{'' if steps == 1 else 's'}" if steps else "0"
