"""Labelled samples in a .npz file: as recorded, and cut into windows.

samples (n, channels); t_ms int64 (n,): milliseconds since the recording began; label int16 (n,):
an index into labels, -1 for none; start bool (n,): first sample of a recording; labels str
(classes,). x (k, window, channels), or (k, channels) without windows, and y int64 (k,): for
training.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np

from tools.deploy.errors import DeployError

from .keys import NONE
from .sensor import SampleBlock


class Dataset:
    """Recorded samples.

    Attributes:
        labels: names; a label's number is its index.
        n: number of samples.
    """

    def __init__(self, labels: list[str]):
        self.labels = list(labels)
        self.n = 0
        self._blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
        self._is_start = True

    @staticmethod
    def read(path: Path) -> Dataset:
        """Read a file.

        Raises:
            DeployError: if it cannot be read or is not a recording.
        """
        try:
            with np.load(path, allow_pickle=False) as file:
                dataset = Dataset([str(name) for name in file["labels"]])
                arrays = tuple(file[name] for name in ("samples", "t_ms", "label", "start"))
        except OSError as e:
            raise DeployError(f"{path}: {e.strerror or e}") from None
        except (EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile):
            raise DeployError(f"{path} is not a recording: name another file") from None
        dataset._blocks.append(arrays)
        dataset.n = len(arrays[0])
        return dataset

    @property
    def channels(self) -> int:
        """Numbers per sample; 0 before the first one."""
        return self._blocks[0][0].shape[1] if self._blocks else 0

    def number_of(self, label: str) -> int:
        """Return the number of a label; a new label gets the next one."""
        if label not in self.labels:
            self.labels.append(label)
        return self.labels.index(label)

    def add(self, block: SampleBlock, label: int) -> None:
        """Append samples.

        Args:
            block: the samples.
            label: number of their label, or NONE.

        Raises:
            DeployError: if the number of channels differs.
        """
        k, channels = block.rows.shape
        if self.channels and channels != self.channels:
            raise DeployError(f"the file has samples of {self.channels} numbers, not {channels}")
        start = np.zeros(k, bool)
        start[:1] = self._is_start
        self._is_start = False
        label = np.full(k, label, np.int16)
        self._blocks.append((block.rows, np.full(k, block.ms, np.int64), label, start))
        self.n += k

    def cut(self, n: int) -> None:
        """Keep only the first n samples."""
        self._blocks = [tuple(a[:n] for a in self._whole())]
        self.n = min(n, self.n)

    def _whole(self):
        return [np.concatenate(parts) for parts in zip(*self._blocks, strict=True)]

    def counts(self) -> dict[str, int]:
        """Return {label: number of samples}."""
        label = self._whole()[2] if self.n else np.zeros(0, np.int16)
        return {name: int((label == i).sum()) for i, name in enumerate(self.labels)}

    def write(self, path: Path, window: int, hop: int) -> int:
        """Write the file and return the number of windows.

        Raises:
            DeployError: if the file cannot be written.
        """
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
    """Cut windows of consecutive samples with one label.

    Args:
        samples: (n, channels).
        label: numbers of labels (n,).
        start: True for the first sample of a recording (n,).
        window: samples in a window; 0 for single samples.
        hop: samples from the start of a window to the start of the next one.

    Returns:
        x (k, window, channels), or (k, channels) for single samples, and y (k,).
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
