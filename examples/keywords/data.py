"""Synthesise the words `yes`, `no` and `stop`, and other sounds, by formant synthesis.

These are not recordings of people: a voice is a buzz of harmonics, shaped by three resonances
(formants) that move from sound to sound, and hisses of noise for s, t and p. Pitch, pace, size of
the head, level and background vary. It shows the way from sound to word; a model for real speech
needs recordings of real speakers. A clip is int16 (8000,): one second at 8 kHz.
"""

from __future__ import annotations

import numpy as np

from .features import RATE

LABELS = ("quiet", "other", "yes", "no", "stop")
N = RATE  # samples of a clip
_STEP = 80  # samples of 10 ms, in which a sound does not change

# Formants in Hz of the voiced sounds, by Peterson and Barney (1952) and the like, rounded.
_VOICED = {
    "i": (280, 2250, 2900),
    "e": (530, 1850, 2500),
    "a": (730, 1100, 2450),
    "o": (500, 850, 2400),
    "u": (310, 870, 2250),
    "n": (250, 1400, 2300),
    "m": (250, 1000, 2200),
    "l": (360, 1050, 2650),
    "r": (350, 1250, 1700),
}
# Hisses: the middle of their band in Hz, its width, level; None: the mouth is shut.
_HISSES = {"s": (3500, 900, 0.5), "f": (2500, 2500, 0.2), "t": (3000, 1500, 0.8), "_": None}
_HISSES |= {"p": (1000, 900, 0.5)}
# A word: sounds with their length in ms, in the pace of a normal speaker.
_WORDS = {
    "yes": (("i", 70), ("e", 150), ("s", 160)),
    "no": (("n", 90), ("o", 130), ("u", 90)),
    "stop": (("s", 130), ("_", 50), ("t", 20), ("a", 160), ("_", 60), ("p", 25)),
}


def clips(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n clips, int16 (n, 8000), and their classes (n,), which take turns."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % len(LABELS)
    return np.array([clip(rng, LABELS[label]) for label in labels]), labels


def clip(rng, label: str) -> np.ndarray:
    """Return one second with the word somewhere in it, over a background."""
    x = _background(rng)
    if label != "quiet":
        word = _spoken(rng, _WORDS.get(label) or _nonsense(rng))[:N]
        at = rng.integers(0, N - len(word) + 1)
        level = 10 ** rng.uniform(3.2, 4.1)
        x[at : at + len(word)] += level * word / (np.abs(word).max() + 1e-9)
    return np.clip(np.round(x), -32768, 32767).astype(np.int16)


def _nonsense(rng):
    """Return two to four sounds that form none of the words and do not rhyme with `no`."""
    sounds = [*_VOICED, "s", "f"]
    while True:
        chosen = rng.choice(sounds, rng.integers(2, 5))
        word = tuple((s, rng.integers(60, 160)) for s in chosen)
        letters = "".join(s for s, _ in word)
        if not any(
            part in letters for part in ("es", "no", "mo", "lo", "ro", "nu", "mu", "na", "sta")
        ):
            return word


def _background(rng):
    """Return hiss and hum of a room."""
    t = np.arange(N) / RATE
    hum = np.sin(2 * np.pi * rng.choice([50, 100, 150]) * t + rng.uniform(0, 6))
    return 10 ** rng.uniform(0.5, 2.2) * (rng.standard_normal(N) + rng.uniform(0, 2) * hum)


def _spoken(rng, word):
    """Return a word as floats of about 1: its voiced part and its hisses."""
    pace, head = rng.uniform(0.75, 1.3), rng.uniform(0.88, 1.18)
    steps = [
        (sound, max(1, round(ms * pace * rng.uniform(0.85, 1.15) / 10))) for sound, ms in word
    ]
    tracks = np.array([_targets(sound) for sound, n in steps for _ in range(n)])
    for column in range(5):  # the mouth moves from one sound to the next within 50 ms
        tracks[:, column] = np.convolve(
            np.pad(tracks[:, column], 2, "edge"), np.ones(5) / 5, "valid"
        )
    formants, voiced, hiss = tracks[:, :3] / head, tracks[:, 3], tracks[:, 4]
    pitch = rng.uniform(90, 240) * (1 + rng.uniform(-0.2, 0.2) * np.linspace(-1, 1, len(tracks)))
    x = _voice(rng, pitch, formants, voiced)
    at = 0
    for (sound, n), level in zip(steps, _levels(steps, hiss), strict=True):
        if _HISSES.get(sound):
            x[at * _STEP : (at + n) * _STEP] += _noise(rng, n * _STEP, *_HISSES[sound][:2]) * level
        at += n
    return x


def _targets(sound):
    """Return formants, and the loudness of voice and hiss."""
    if sound in _VOICED:
        loudness = 0.5 if sound in "nm" else 1.0
        return (*_VOICED[sound], loudness, 0)
    return (500, 1500, 2500, 0, (_HISSES[sound] or (0, 0, 0))[2])


def _levels(steps, hiss):
    """Return the hiss's level in each sound."""
    ends = np.cumsum([n for _, n in steps])
    return [hiss[end - n : end].mean() for end, (_, n) in zip(ends, steps, strict=True)]


def _voice(rng, pitch, formants, loudness):
    """Return harmonics of the pitch, each as loud as the formants let it through."""
    k = np.arange(1, int(RATE / 2 / pitch.max()) + 1)
    f = pitch[:, None] * k
    gains = np.zeros_like(f)
    for i, (width, level) in enumerate(((70, 1.0), (100, 0.5), (150, 0.25))):
        gains += level / (1 + ((f - formants[:, i : i + 1]) / width) ** 2)
    gains *= loudness[:, None] / np.sqrt(k)
    n = len(pitch) * _STEP
    at = np.arange(n) / _STEP
    steps = np.arange(len(pitch))
    phase = 2 * np.pi * np.cumsum(np.interp(at, steps, pitch)) / RATE
    x = np.zeros(n)
    for i in range(len(k)):
        x += np.interp(at, steps, gains[:, i]) * np.sin(k[i] * phase + rng.uniform(0, 6))
    return x


def _noise(rng, n, middle, width):
    """Return noise around a frequency, about 1 in size."""
    spectrum = np.fft.rfft(rng.standard_normal(n))
    f = np.fft.rfftfreq(n, 1 / RATE)
    x = np.fft.irfft(spectrum * np.exp(-(((f - middle) / width) ** 2)), n)
    return x / (x.std() + 1e-9)
