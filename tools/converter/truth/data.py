"""Read samples and what is true of them from files: FILE.npz:x,y, or two files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..errors import UsageError
from ..load.arrayfile import read_array, read_arrays

_KEYS = ("x", "y")  # of a .npz if the user names none


class Spec(NamedTuple):
    """An input of a model: dimensions that may have any size are strings."""

    name: str
    dtype: np.dtype
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class Data:
    """Samples with their true classes or values, as files hold them.

    Attributes:
        source: the user's words, for messages.
        arrays: by name in the file, arrays of one or several samples.
        truth: what is true of each sample, along the first axis.
        are_ordered: the user named the arrays, in the order of the inputs.
    """

    source: str
    arrays: Mapping[str, Sequence[np.ndarray]]
    truth: np.ndarray
    are_ordered: bool = False

    def samples(self, specs: Sequence[Spec]) -> list[dict[str, np.ndarray]]:
        """Return the arrays of each sample by input; raise UsageError if they do not fit."""
        columns = {
            spec.name: [x for array in arrays for x in split(array, spec, self.source)]
            for spec, arrays in self._by_input(specs)
        }
        counts = {len(column) for column in columns.values()}
        if len(counts) != 1:
            raise UsageError(f"{self.source}: its arrays hold different numbers of samples")
        [n] = counts
        if not n:
            raise UsageError(f"{self.source} has no samples")
        if len(self.truth) != n:
            raise UsageError(f"{self.source}: {n} samples, but {len(self.truth)} true values")
        return [{name: column[i] for name, column in columns.items()} for i in range(n)]

    def _by_input(self, specs):
        names = [spec.name for spec in specs]
        if set(names) <= set(self.arrays):
            return [(spec, self.arrays[spec.name]) for spec in specs]
        chosen = list(self.arrays.values())
        if not self.are_ordered and len(specs) == 1:
            chosen = [arrays for arrays in chosen if any(x.ndim > 1 for x in arrays)] or chosen
        is_named = not self.are_ordered and any(self.arrays) and len(specs) > 1
        if len(chosen) != len(specs) or is_named:
            held = ", ".join(filter(None, self.arrays)) or "one array"
            raise UsageError(f"{self.source} holds {held}; the inputs are {', '.join(names)}")
        return list(zip(specs, chosen, strict=True))


def read_data(text: str, truth: str | None = None) -> Data:
    """Read samples with their true classes or values.

    Args:
        text: FILE.npz:x,y, the names of the inputs' arrays and last that of the truth; with
            `truth` a .npy, a .npz (FILE.npz:x) or a folder of .npy, in the order of their names.
        truth: a .npy, or FILE.npz:y.

    Raises:
        UsageError: if the files hold something else.
        OSError: if a file cannot be read.
    """
    path, keys = _parts(text)
    if truth is not None:
        return Data(
            text, _inputs(path, keys, text), checked_truth(_truth(truth), truth), bool(keys)
        )
    contents = read_arrays(path)
    if not isinstance(contents, dict):
        raise UsageError(f"{text} has no true values: name a second file, or a FILE.npz:x,y")
    if not keys and set(_KEYS) <= set(contents):
        keys = _KEYS
    if len(keys) < 2:
        held = ", ".join(contents)
        raise UsageError(f"{text}: name samples and truth, as FILE.npz:x,y; it holds {held}")
    *inputs, last = (_member(contents, key, text) for key in keys)
    arrays = {key: [x] for key, x in zip(keys, inputs, strict=False)}
    return Data(text, arrays, checked_truth(last, text), are_ordered=True)


def files_of(texts: Iterable[str]) -> list[Path]:
    """Return the files and folders that FILE.npz:KEY and the like name."""
    return [_parts(text)[0] for text in texts]


def _parts(text):
    """Return the path and the keys of FILE.npz:x,y."""
    name, colon, keys = text.rpartition(".npz:")
    if not colon:
        return Path(text), ()
    return Path(name + ".npz"), tuple(key.strip() for key in keys.split(",") if key.strip())


def _inputs(path, keys, text):
    if path.is_dir():
        files = sorted(path.glob("*.npy"))
        if not files:
            raise UsageError(f"{path} holds no .npy files")
        return {"": [read_array(file) for file in files]}
    contents = read_arrays(path)
    if not isinstance(contents, dict):
        return {"": [contents]}
    return {key: [_member(contents, key, text)] for key in keys or contents}


def _truth(text):
    path, keys = _parts(text)
    contents = read_arrays(path)
    if not isinstance(contents, dict):
        return contents
    if len(keys or contents) != 1:
        raise UsageError(f"{text}: say which of {', '.join(contents)}, as FILE.npz:KEY")
    return _member(contents, next(iter(keys or contents)), text)


def _member(contents, key, text):
    if key not in contents:
        raise UsageError(f"{text}: it lacks the array {key}, and holds {', '.join(contents)}")
    return contents[key]


def checked_truth(truth: np.ndarray, source: str) -> np.ndarray:
    """Return the truth without a last axis of 1; refuse what no model can be compared with."""
    if truth.dtype.kind not in "biufUS" or not truth.ndim:
        what = f"{truth.dtype} of shape {list(truth.shape)}"
        raise UsageError(f"{source}: {what} holds no class or value for each sample")
    if truth.dtype.kind == "f" and not np.isfinite(truth).all():
        i = int(np.argwhere(~np.isfinite(truth))[0][0])
        raise UsageError(f"{source}: the true value of sample {i} is NaN or infinite")
    if truth.ndim > 1 and truth.size == len(truth):
        truth = truth.reshape(len(truth))
    return truth.astype(int) if truth.dtype.kind == "b" else truth


def split(array: np.ndarray, spec: Spec, source: str) -> Sequence[np.ndarray]:
    """Return arrays of an input's shape, in which floats have its size; Python's are float64.

    Args:
        array: one sample, or samples along its first axis; dimensions of 1 may be missing, also
            a first one of any size.
        spec: the input.
        source: the file, for messages.

    Raises:
        UsageError: if they do not fit, or are integers where floats are needed.
    """
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if array.dtype.kind == spec.dtype.kind == "f":
        with np.errstate(over="ignore"):
            array = array.astype(spec.dtype, copy=False)
    if array.dtype != spec.dtype:
        raise UsageError(
            f"{source}: {array.dtype}, but input {spec.name} takes {spec.dtype}: convert it with "
            ".astype()"
        )
    shape = spec.shape
    if _fits(array.shape, shape):
        is_batch = shape and isinstance(shape[0], str) and len(array) != 1
        return [x[None] for x in array] if is_batch else [array]
    if _fits(array.shape[1:], shape):
        return list(array)
    if shape[:1] == (1,) and array.ndim == len(shape) and _fits(array.shape[1:], shape[1:]):
        return [x[None] for x in array]
    one = tuple(1 if i == 0 and isinstance(d, str) else d for i, d in enumerate(shape))
    if _without_ones(array.shape[1:]) == _without_ones(one):
        return [x.reshape(one) for x in array]
    if _without_ones(array.shape) == _without_ones(one):
        return [array.reshape(one)]
    raise UsageError(
        f"{source}: shape {list(array.shape)}, but input {spec.name} is "
        f"[{', '.join(map(str, shape))}]"
    )


def _fits(dims, shape):
    return len(dims) == len(shape) and all(
        isinstance(expected, str) or size == expected
        for size, expected in zip(dims, shape, strict=True)
    )


def _without_ones(dims):
    return [d for d in dims if d != 1]
