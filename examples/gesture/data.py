"""Simulate readings of an accelerometer that is held, shaken, circled, lifted and tapped.

Simulated from simple motions, not recorded from people: gravity in a hand that is never quite
level, the motion's acceleration with its own size, pace and phase, and noise. A window is int16
(64, 3): 1.28 s at 50 Hz of x, y, z in the counts of an MPU-6050 at +-4 g.
"""

from __future__ import annotations

import numpy as np

LABELS = ("still", "shake", "circle", "lift", "tap")
N, RATE, COUNTS = 64, 50, 8192  # readings, readings per second, counts for 1 g


def windows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n windows, int16 (n, 64, 3), and their classes (n,), which take turns."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % len(LABELS)
    drawn = [_window(rng, LABELS[label]) for label in labels]
    return np.array(drawn, np.int16), labels


def _window(rng, label):
    """Return one window: motion in the hand's frame, then gravity, tilt and noise."""
    t = np.arange(N) / RATE
    g = _MOTIONS[label](rng, t) + rng.normal(0, 0.01, (N, 3)) + [0, 0, 1]
    g = g @ _tilt(rng).T + rng.normal(0, 0.02, 3)
    return np.clip(np.round(g * COUNTS), -32768, 32767)


def _tilt(rng):
    """Return a rotation by up to 25 degrees about each axis."""
    rotation = np.eye(3)
    for axis, angle in enumerate(rng.uniform(-25, 25, 3) * np.pi / 180):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = np.cos(angle)
        turn[i, j], turn[j, i] = -np.sin(angle), np.sin(angle)
        rotation = rotation @ turn
    return rotation


def _still(rng, t):
    """Return the tremble of a hand at 8 to 12 Hz."""
    phase = rng.uniform(0, 2 * np.pi, 3)
    tremble = np.sin(2 * np.pi * rng.uniform(8, 12) * t[:, None] + phase)
    return rng.uniform(0, 0.04) * tremble


def _shake(rng, t):
    """Move back and forth along x, three to five times per second."""
    wave = np.sin(2 * np.pi * rng.uniform(3, 5) * t + rng.uniform(0, 2 * np.pi))
    return rng.uniform(0.6, 1.6) * wave[:, None] * [1, rng.uniform(-0.3, 0.3), 0.1]


def _circle(rng, t):
    """Move in the plane of x and y, once or twice per second, in either direction."""
    angle = 2 * np.pi * rng.uniform(1, 2) * t + rng.uniform(0, 2 * np.pi)
    direction = rng.choice([-1, 1])
    around = np.stack([np.cos(angle), direction * np.sin(angle), 0.1 * np.sin(2 * angle)], 1)
    return rng.uniform(0.4, 1.0) * around


def _lift(rng, t):
    """Move up and to a stop along z: a push, then a pull of the same size."""
    middle, width = rng.uniform(0.5, 0.8), rng.uniform(0.12, 0.22)
    s = (t - middle) / width
    push = -s * np.exp(0.5 - s * s / 2)
    return rng.uniform(0.4, 1.0) * push[:, None] * [0.1, 0.1, 1]


def _tap(rng, t):
    """Return one or two knocks of about 20 ms that ring along z."""
    ringing = np.zeros(len(t))
    first = rng.uniform(0.1, 0.7)
    for at in (first, first + rng.uniform(0.2, 0.4))[: rng.integers(1, 3)]:
        since = t - at
        ring = np.exp(-np.maximum(since, 0) / 0.03) * np.cos(2 * np.pi * 18 * since)
        ringing += np.where(since >= 0, ring, 0)
    return rng.uniform(0.8, 2.5) * ringing[:, None] * [0.2, 0.2, 1]


_MOTIONS = dict(zip(LABELS, (_still, _shake, _circle, _lift, _tap), strict=True))
