"""Draw frames of a camera that looks at a disc, a square, a triangle or an empty sheet.

Drawn by this script, not photographed: a dark shape of any size, position, rotation and colour, on
a brighter sheet lit from one side, with noise and a little blur. A frame is RGB565, 160 x 120
pixels, as small cameras provide it. (A model trained on photographs of persons would find persons
in the same way.)
"""

from __future__ import annotations

import numpy as np

LABELS = ("nothing", "disc", "square", "triangle")
WIDTH, HEIGHT = 160, 120
SIDE = 32  # pixels of the network's picture, the middle 120 x 120 of a frame
_CORNERS = {"square": 4, "triangle": 3}


def frames(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return n frames, uint8 RGB (n, 120, 160, 3), and their classes (n,), which take turns."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % len(LABELS)
    return np.array([frame(rng, LABELS[label]) for label in labels]), labels


def frame(rng, label: str) -> np.ndarray:
    """Return one frame, uint8 (120, 160, 3)."""
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(np.float32)
    paper, ink = _colours(rng)
    picture = np.broadcast_to(paper, (HEIGHT, WIDTH, 3)).copy()
    if label != "nothing":
        inside = _inside(rng, label, x - WIDTH / 2, y - HEIGHT / 2)
        picture += inside[:, :, None] * (ink - paper)
    angle = rng.uniform(0, 2 * np.pi)
    slope = (np.cos(angle) * x / WIDTH + np.sin(angle) * y / HEIGHT) * rng.uniform(0, 60)
    picture += slope[:, :, None] + rng.normal(0, rng.uniform(2, 10), picture.shape)
    return np.clip(picture, 0, 255).astype(np.uint8)


def _colours(rng):
    """Return two colours, the paper's at least 60 of 255 brighter."""
    while True:
        paper, ink = rng.uniform(20, 235, (2, 3))
        if (paper - ink) @ [0.3, 0.59, 0.11] > 60:
            return paper, ink


def _inside(rng, label, x, y):
    """Return how much of each pixel is ink, with edges two pixels wide."""
    size = rng.uniform(24, 44)
    reach = 58 - size
    x, y = x - rng.uniform(-reach, reach), y - rng.uniform(-reach, reach)
    if label == "disc":
        distance = np.hypot(x, y) - size
    else:
        n = _CORNERS[label]
        turns = rng.uniform(0, 2 * np.pi) + 2 * np.pi * np.arange(n) / n
        sides = [np.cos(a) * x + np.sin(a) * y for a in turns]
        distance = np.max(sides, 0) - size * np.cos(np.pi / n) * (1 if n == 4 else 1.2)
    return np.clip(0.5 - distance / 2, 0, 1)


def rgb565(pixels: np.ndarray) -> bytes:
    """Convert RGB (..., 3) to RGB565, low byte first."""
    r, g, b = (pixels[..., i].astype(np.uint16) for i in range(3))
    return (r >> 3 << 11 | g >> 2 << 5 | b >> 3).astype("<u2").tobytes()


def gray(pixels: np.ndarray) -> np.ndarray:
    """Convert frames (n, 120, 160, 3) as the board does: float32 (n, 1, 32, 32), 0 to 1.

    It takes the middle 120 x 120 pixels, the nearest one of each 3.75, through RGB565.
    """
    at = ((np.arange(SIDE) + 0.5) * HEIGHT / SIDE).astype(int)
    picked = pixels[:, at][:, :, at + (WIDTH - HEIGHT) // 2].astype(np.int32)
    r, g, b = (  # 5 or 6 bits, the upper ones repeated below them
        v >> lost << lost | v >> 8 - lost
        for v, lost in zip(np.moveaxis(picked, -1, 0), (3, 2, 3), strict=True)
    )
    return ((77 * r + 150 * g + 29 * b >> 8)[:, None] / 255).astype(np.float32)
