"""Simulate the vibration of a healthy fan and of faulty ones.

Simulated from what is known of rotating machines, not recorded: a shaft of 24 to 34 turns per
second with its harmonics and the blades' hum, noise of the bearings, drifting load and speed.
Faults: `unbalance` (the shaft's own frequency grows), `bearing` (a knock at each passing of a
damaged ball rings at 900 to 1,400 Hz), `rubbing` (bursts of noise), `blade` (one is broken: the
hum spreads to sidebands). A clip is int16 (2048,): half a second at 4 kHz.
"""

from __future__ import annotations

import numpy as np

WELL = "well"
FAULTS = ("unbalance", "bearing", "rubbing", "blade")
LABELS = (WELL, *FAULTS)
RATE, N, SIZE, BANDS, LOW = 4000, 2048, 512, 20, 15
_BLADES = 7


def clips(n: int, seed: int, labels=(WELL,)) -> tuple[np.ndarray, list[str]]:
    """Return n clips, int16 (n, 2048), and the fan's conditions: the labels take turns."""
    rng = np.random.default_rng(seed)
    named = [labels[i % len(labels)] for i in range(n)]
    return np.array([clip(rng, label) for label in named]), named


def clip(rng, label: str) -> np.ndarray:
    t = np.arange(N) / RATE
    speed = rng.uniform(24, 34)
    turns = speed * t + rng.uniform(0, 0.02) * np.sin(2 * np.pi * 0.7 * t)
    x = _shaft(rng, turns, 8 if label == "unbalance" else 1)
    x += _hum(rng, turns, label == "blade")
    x += rng.uniform(0.08, 0.14) * rng.standard_normal(N)
    if label == "bearing":
        x += _knocks(rng, t, speed)
    if label == "rubbing":
        burst = np.maximum(0, np.sin(2 * np.pi * turns + rng.uniform(0, 6))) ** 4
        x += rng.uniform(0.5, 1.2) * burst * rng.standard_normal(N)
    x *= 10 ** rng.uniform(-0.05, 0.05)  # how firmly the sensor is mounted
    return np.clip(np.round(2000 * x), -32768, 32767).astype(np.int16)


def _shaft(rng, turns, unbalance):
    """Return one to four vibrations per turn."""
    x = np.zeros(len(turns))
    for k, level in enumerate((0.5 * unbalance, 0.3, 0.15, 0.08), 1):
        x += level * rng.uniform(0.8, 1.2) * np.sin(2 * np.pi * k * turns + rng.uniform(0, 6))
    return x


def _hum(rng, turns, is_broken):
    """Return the hum of the blades, which pass seven times per turn."""
    x = np.zeros(len(turns))
    for k, level in ((1, 0.6), (2, 0.25)):
        swing = 1 + is_broken * rng.uniform(0.7, 1) * np.sin(2 * np.pi * turns)
        x += level * swing * rng.uniform(0.85, 1.15) * np.sin(2 * np.pi * k * _BLADES * turns)
    if is_broken:
        for k in (9, 11, 12, 17):
            x += rng.uniform(0.2, 0.4) * np.sin(2 * np.pi * k * turns + rng.uniform(0, 6))
    return x


def _knocks(rng, t, speed):
    """Return about 3.6 knocks per turn, each ringing for a few milliseconds."""
    since = (t * speed * 3.6 + rng.uniform(0, 1)) % 1 / (speed * 3.6)
    ring = np.sin(2 * np.pi * rng.uniform(900, 1400) * since) * np.exp(-since / 0.003)
    return rng.uniform(0.6, 1.5) * ring


def spectra(vibrations: np.ndarray) -> np.ndarray:
    """Return the log-mel spectra of clips, averaged over their frames: float32 (n, 20)."""
    from ..keywords.features import log_mel

    frames = vibrations.reshape(len(vibrations), -1, SIZE)
    return log_mel(frames, RATE, BANDS, LOW).mean(1).astype(np.float32)
