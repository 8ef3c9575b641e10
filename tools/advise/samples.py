"""Inputs to calibrate and to compare with: the user's file, or random ones."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tools.converter.converted import Converted
from tools.converter.quantize.data import read_samples
from tools.converter.reference.golden import random_values
from tools.converter.shapes import extent

CALIBRATION = "SAMPLES.npz"  # stands for the user's file in a command line
_RANDOM = 8


@dataclass(frozen=True)
class Samples:
    """folder: with input_0.npy and so on, as tools.run takes them; count: of the samples."""

    folder: Path
    count: int


def write_samples(
    folder: Path, given: Path | None, converted: Converted, most: int
) -> Samples | None:
    """Writes so many for tools.run, and random ones for the quantizer; None if none can be made.

    Raises UsageError where the user's do not fit the model.
    """
    inputs = converted.graph.inputs
    if any(t.is_object or any(map(extent.is_open, t.shape)) for t in inputs):
        return None
    names = [t.name for t in inputs]
    if given:
        read = read_samples(given, converted.model.graph)
        rows = [[sample[name] for name in names] for sample in read]
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
