"""Declare the options of quantization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from ..truth import Data

from ..errors import UsageError

MODES = ("int8", "int16x8", "dynamic")
METHODS = ("minmax", "percentile", "entropy", "mse")
IO = ("float", "int8")


def check_choice(name: str, value: object, choices: Sequence[object]) -> None:
    """Raise UsageError if an option has a value that is none of its choices."""
    if not any(value is one or (type(value) is type(one) and value == one) for one in choices):
        raise UsageError(f"{name} {value!r}: choose from {', '.join(map(str, choices))}")


@dataclass(frozen=True)
class Settings:
    """The options of quantization.

    Attributes:
        mode: int8 (activations and weights), int16x8 (activations in 16 bits) or dynamic (weights
            at conversion, activations by each run's own range).
        samples: by input name the arrays of one run each; or an array of samples, or one by input
            name, as a .npz holds them; or the file or folder of them (data.py).
        labels: the class of each sample, or a file of them, as 'y.npy' or 'data.npz:y'.
        method: how ranges of activations are chosen.
        per_channel: a scale for each output channel of weights.
        exclude: nodes that stay in float.
        io: dtype of the model's inputs and outputs.
        test: samples that calibrate nothing, with what is true of them.
        max_drop: share of samples that may be lost against float before other settings are tried.
    """

    mode: str = "int8"
    samples: Sequence[Mapping[str, np.ndarray]] | Mapping[str, np.ndarray] | np.ndarray | Path = ()
    labels: np.ndarray | str | None = None
    method: str = "minmax"
    per_channel: bool = True
    exclude: Sequence[str] = ()
    io: str = "float"
    max_drop: float | None = None
    test: Data | None = None

    def __post_init__(self) -> None:
        """Raise UsageError for a value that there is not."""
        check_choice("quantize", self.mode, MODES)
        check_choice("method", self.method, METHODS)
        check_choice("io", self.io, IO)
        check_choice("per_channel", self.per_channel, (True, False))
