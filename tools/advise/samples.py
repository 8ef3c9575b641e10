"""Write inputs for calibration and comparison: the user's samples, or random ones."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tools.converter.converted import Converted
from tools.converter.quantize.data import read_samples
from tools.converter.reference.golden import random_values
from tools.converter.shapes import extent

CALIBRATION = "SAMPLES.npz"  # placeholder for the user's file in a command line
_RANDOM = 8


@dataclass(frozen=True)
class Samples:
    """Samples in a folder.

    Attributes:
        folder: has input_0.npy and so on, as tools.run expects them.
        count: number of samples.
    """

    folder: Path
    count: int


def write_samples(
    folder: Path, user_samples: Path | None, converted: Converted, most: int
) -> Samples | None:
    """Write samples for tools.run, and random ones for the quantizer.

    Args:
        folder: folder to write to.
        user_samples: the user's file; None: random samples.
        converted: the model.
        most: largest number of samples.

    Returns:
        The samples; None if the model's inputs cannot be generated.

    Raises:
        UsageError: if the user's samples do not fit the model.
    """
    inputs = converted.graph.inputs
    if any(t.is_object or any(map(extent.is_open, t.shape)) for t in inputs):
        return None
    names = [t.name for t in inputs]
    if user_samples:
        samples = read_samples(user_samples, converted.model.graph)
        rows = [[sample[name] for name in names] for sample in samples]
    else:
        rows = [random_values(inputs, seed) for seed in range(_RANDOM)]
        columns = {name: np.stack([row[j] for row in rows]) for j, name in enumerate(names)}
        np.savez(folder / CALIBRATION, **columns)
    target = folder / "samples"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for k, row in enumerate(rows[:most]):
        for j, x in enumerate(row):
            np.save(target / (f"input_{k}_{j}.npy" if j else f"input_{k}.npy"), x)
    return Samples(target, min(len(rows), most))
