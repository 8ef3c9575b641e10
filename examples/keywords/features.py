"""The features of mpconnxr.io.audio.LogMel in numpy and floats: for training, and to test it."""

from __future__ import annotations

import numpy as np

RATE, SIZE, HOP, BANDS, LOW = 8000, 256, 160, 20, 100
FRAMES = 49  # of a clip of one second


def log_mel(frames: np.ndarray, rate=RATE, bands=BANDS, low=LOW, high=None) -> np.ndarray:
    """Return 256 * log2 of the energies in bands (..., bands) of int16 frames (..., size)."""
    size = frames.shape[-1]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    power = np.abs(np.fft.rfft(frames * hann)) ** 2
    energy = power @ triangles(size, rate, bands, low, high or rate / 2).T
    return 256 * np.log2(np.maximum(energy, 1))


def triangles(size, rate, bands, low, high) -> np.ndarray:
    """Return filters (bands, bins) that rise to 1 at their middle on the mel scale, and fall."""
    mels = 2595 * np.log10(1 + np.fft.rfftfreq(size, 1 / rate) / 700)
    first, last = (2595 * np.log10(1 + f / 700) for f in (low, high))
    position = (mels - first) / (last - first) * (bands + 1)
    return np.maximum(0, 1 - np.abs(position - np.arange(1, bands + 1)[:, None]))


def of_clips(clips: np.ndarray) -> np.ndarray:
    """Return clips (n, samples) as the network takes them: float32 (n, 1, FRAMES, BANDS)."""
    windows = np.lib.stride_tricks.sliding_window_view(clips, SIZE, axis=1)[:, ::HOP][:, :FRAMES]
    return log_mel(windows)[:, None].astype(np.float32)
