"""Simulate readings of CO2, temperature, humidity and light in a room over some days.

Simulated from simple balances, not recorded: people exhale CO2, heat and humidity, cooking adds
more of the latter two, an open window removes all of it, walls leak a little. One reading every 30
s.
"""

from __future__ import annotations

import numpy as np

LABELS = ("empty", "occupied", "cooking", "airing")
FEATURES = ("co2", "temperature", "humidity", "light", "d_co2", "d_temperature", "d_humidity")
PERIOD_S, SPAN = 30, 10  # seconds between readings; readings over which a change is measured
_DAY = 24 * 3600 // PERIOD_S


def day(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a day's readings (2880, 4): ppm CO2, degrees C, % humidity, % light; and classes."""
    rng = np.random.default_rng(seed)
    labels = _plan(rng)
    outside = rng.uniform(2, 14)
    co2, warm, damp = rng.uniform(450, 600), rng.uniform(19, 21), rng.uniform(40, 50)
    rows = []
    for i, label in enumerate(labels):
        if i == 0 or label != labels[i - 1]:
            people = 0 if label == 0 else rng.integers(1, 4)
        is_open, is_cooking = label == 3, label == 2
        leak = 0.05 if is_open else 0.002
        co2 += 2 * people + 3 * is_cooking - leak * (co2 - 420)
        warm += 0.004 * people + 0.03 * is_cooking - (0.006 if is_open else 0.0) * (warm - outside)
        warm += 0.01 * (20.5 - warm)
        damp += 0.03 * people + 0.5 * is_cooking - leak * (damp - 38) - 0.004 * (damp - 42)
        hour = i * PERIOD_S / 3600
        sun = max(0.0, np.sin(np.pi * (hour - 7) / 12)) * 60
        lamp = 35 if people and (hour < 8 or hour > 17) else 0
        rows.append((co2, warm, damp, sun + lamp))
    noise = rng.normal(0, (8, 0.05, 0.3, 2), (_DAY, 4))
    return np.maximum(0, np.array(rows) + noise), labels


def _plan(rng):
    """Return the class of each reading."""
    plan = []
    while len(plan) < _DAY:
        hour = len(plan) * PERIOD_S / 3600
        is_quiet = hour < 6 or 8.5 < hour < 16
        label = rng.choice(4, p=(0.6, 0.2, 0.05, 0.15) if is_quiet else (0.15, 0.4, 0.2, 0.25))
        minutes = (rng.uniform(40, 180), rng.uniform(30, 150), rng.uniform(15, 50), 12)[label]
        plan += [label] * int(minutes * 60 / PERIOD_S)
    return np.array(plan[:_DAY])


def features(readings: np.ndarray) -> np.ndarray:
    """Convert readings (n, 4) to float32 (n - SPAN, 7): values, and changes in 5 minutes."""
    now, before = readings[SPAN:], readings[:-SPAN]
    return np.concatenate([now, (now - before)[:, :3]], 1).astype(np.float32)
