"""Labelled samples in a .npz file, as they came and cut into windows.

samples (n, channels); t_ms int64 (n,): since the recording began; label int16 (n,): an index into
labels, -1 for none; start bool (n,): the first sample of a recording. labels: str (classes,).
x (k, window, channels), or (k, channels) without windows; y int64 (k,): what a network trains on.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from tools.deploy.errors import DeployError

from .sensor import Heard

NONE = -1


class Dataset:
    """What was recorded. labels: names, in the order of their numbers."""

    def __init__(self, labels: list[str]):
        self.labels = list(labels)
        self.n = 0
        self._pieces: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
        self._is_start = True

    @staticmethod
    def read(path: Path) -> Dataset:
        """Raises DeployError for a file that is not one."""
        try:
            with np.load(path, allow_pickle=False) as found:
                dataset = Dataset([str(name) for name in found["labels"]])
                pieces = tuple(found[name] for name in ("samples", "t_ms", "label", "start"))
        except OSError as e:
            raise DeployError(f"{path}: {e.strerror or e}") from None
        except (EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile):
            raise DeployError(f"{path} is not a recording: name another file") from None
        dataset._pieces.append(pieces)
        dataset.n = len(pieces[0])
        return dataset

    @property
    def channels(self) -> int:
        """Numbers a sample, 0 before there is one."""
        return self._pieces[0][0].shape[1] if self._pieces else 0

    def number_of(self, label: str) -> int:
        """A new label gets the next number."""
        if label not in self.labels:
            self.labels.append(label)
        return self.labels.index(label)

    def add(self, heard: Heard, label: int) -> None:
        """Raises DeployError where there are other channels than before."""
        k, channels = heard.rows.shape
        if self.channels and channels != self.channels:
            raise DeployError(f"the file has samples of {self.channels} numbers, not {channels}")
        start = np.zeros(k, bool)
        start[:1] = self._is_start
        self._is_start = False
        label = np.full(k, label, np.int16)
        self._pieces.append((heard.rows, np.full(k, heard.ms, np.int64), label, start))
        self.n += k

    def cut(self, n: int) -> None:
        """Keeps the first n samples."""
        self._pieces = [tuple(a[:n] for a in self._whole())]
        self.n = min(n, self.n)

    def _whole(self):
        return [np.concatenate(parts) for parts in zip(*self._pieces, strict=True)]

    def counts(self) -> dict[str, int]:
        """Samples a label."""
        label = self._whole()[2] if self.n else np.zeros(0, np.int16)
        return {name: int((label == i).sum()) for i, name in enumerate(self.labels)}

    def write(self, path: Path, window: int, hop: int) -> int:
        """Returns the number of windows. Raises DeployError."""
        samples, t_ms, label, start = self._whole()
        x, y = windows(samples, label, start, window, hop)
        arrays = {"samples": samples, "t_ms": t_ms, "label": label, "start": start}
        try:
            with path.open("wb") as file:
                np.savez(file, x=x, y=y, labels=np.array(self.labels, np.str_), **arrays)
        except OSError as e:
            raise DeployError(f"{path}: {e.strerror}") from None
        return len(x)


def windows(samples, label, start, window: int, hop: int) -> tuple[np.ndarray, np.ndarray]:
    """(x, y): windows of samples that follow each other in one recording and have one label.

    window: samples in one, 0 for single samples; hop: from one window's start to the next one's.
    """
    if not window:
        labelled = label != NONE
        return samples[labelled], label[labelled].astype(np.int64)
    changes = start[1:] | (label[1:] != label[:-1])
    bounds = [0, *(np.flatnonzero(changes) + 1), len(label)]
    at = [
        k
        for low, high in zip(bounds[:-1], bounds[1:], strict=True)
        if low < high and label[low] != NONE
        for k in range(low, high - window + 1, hop)
    ]
    shape = (0, window, samples.shape[1])
    x = np.stack([samples[k : k + window] for k in at]) if at else np.zeros(shape, samples.dtype)
    return x, label[at].astype(np.int64)
