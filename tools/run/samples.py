"""Read the inputs to run: named .npy files (.json for maps), or a folder of numbered ones.

Functions raise UsageError if files are missing or invalid, or an input needs other samples.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tools.converter.load.arrayfile import read_array
from tools.errors import UsageError
from tools.format.objects import is_object

from .models import Spec

_NAME = re.compile(r"input_(\d+)(?:_(\d+))?\.(?:npy|json)")


@dataclass
class Sample:
    """The inputs of one inference.

    Attributes:
        number: K of input_K_J.npy.
        arrays: inputs in the graph's order; a map is a dict.
    """

    number: int
    arrays: list[np.ndarray | dict]


def sample_of(paths: Sequence[Path]) -> Sample:
    """Read one sample, a file for each input."""
    return Sample(0, [_array(path) for path in paths])


def samples_in(folder: Path) -> list[Sample]:
    """Read all samples of a folder, input_K.npy, input_K_1.npy, ..., in the order of K."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    paths_by_number: dict[int, dict[int, Path]] = defaultdict(dict)
    for path in folder.iterdir():
        match = _NAME.fullmatch(path.name)
        if match:
            paths_by_number[int(match[1])][int(match[2] or 0)] = path
    if not paths_by_number:
        raise UsageError(f"{folder} holds no input_0.npy or the like")
    samples = []
    for number, paths in sorted(paths_by_number.items()):
        missing = set(range(len(paths))) - set(paths)
        if missing:
            name = output_name(number, min(missing)).replace("output", "input")
            raise UsageError(f"{folder} lacks {name}")
        samples.append(Sample(number, [_array(paths[i]) for i in range(len(paths))]))
    return samples


def random_samples(inputs: Sequence[Spec], n: int, seed: int) -> list[Sample]:
    """Return samples of random numbers; dimensions of any size are 1.

    Floats have a standard normal distribution, 8-bit integers all values, other integers 0 and 1.
    """
    rng = np.random.default_rng(seed)
    return [Sample(k, [_random(rng, spec) for spec in inputs]) for k in range(n)]


def _random(rng, spec):
    if is_object(spec.number) or spec.shape == ("...",):
        raise UsageError(f"--random: input {spec} needs X.npy")
    shape = [d if isinstance(d, int) else 1 for d in spec.shape]
    if spec.dtype in (np.int8, np.uint8):
        bounds = np.iinfo(spec.dtype)
        return rng.integers(bounds.min, bounds.max + 1, shape, spec.dtype)
    if spec.dtype.kind in "iub":
        return rng.integers(0, 2, shape).astype(spec.dtype)
    return rng.standard_normal(shape).astype(spec.dtype)


def output_name(number: int, i: int, suffix: str = ".npy") -> str:
    """Return the file name of a sample's i-th output, numbered like the inputs."""
    return f"output_{number}_{i}{suffix}" if i else f"output_{number}{suffix}"


def _array(path):
    if path.suffix != ".json":
        return read_array(path)
    try:
        return json.loads(path.read_text())
    except ValueError as e:
        raise UsageError(f"{path} is not a .json: {e}") from None
