"""Draw what the models of the examples see: examples/pictures/NAME.svg.

    python -m examples.gallery

Each picture has a panel for some of the classes. The seeds are fixed: the pictures repeat.
"""

from __future__ import annotations

import base64
import struct
import sys
import zlib
from pathlib import Path

import numpy as np

from examples.anomaly import data as anomaly
from examples.digits.demo import test_split
from examples.forest import data as forest
from examples.gesture import data as gesture
from examples.keywords import data as keywords
from examples.keywords import features
from examples.shapes import data as shapes
from tools.converter.report.svg import element

FOLDER = Path(__file__).parent / "pictures"
_WIDTH, _HEIGHT, _GAP, _TEXT = 100, 70, 10, 16  # of a panel, between panels, of a label [pixels]
_COLOURS = ("#00796b", "#e65100", "#5e35b1")


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(picture(draw()) + "\n")
    return 0


def digits():
    """Return panels of five handwritten digits."""
    images, labels = test_split()
    for digit in range(5):
        yield str(digit), image(255 - 15.9 * images[labels == digit][0])


def keyword_spectra():
    """Return panels of the log-mel spectra of words: time to the right, pitch upwards."""
    rng = np.random.default_rng(0)
    for label in keywords.LABELS[2:]:
        [[spectrum]] = features.of_clips(keywords.clip(rng, label)[None])
        scaled = (spectrum - spectrum.min()) / np.ptp(spectrum)
        yield label, image(255 - 255 * scaled.T[::-1], preserveAspectRatio="none")


def frames():
    """Return panels of the frames of a camera."""
    rng = np.random.default_rng(3)
    for label in shapes.LABELS:
        [picture] = shapes.gray(shapes.frame(rng, label)[None])
        yield label, image(255 * picture.reshape(shapes.SIDE, shapes.SIDE))


def motions():
    """Return panels of windows of an accelerometer: x, y and z."""
    windows, labels = gesture.windows(5, seed=0)
    for window, label in zip(windows, labels, strict=True):
        yield gesture.LABELS[label], lines(window.T, -32768, 32767)


def vibrations():
    """Return panels of a fan's spectra."""
    rng = np.random.default_rng(0)
    for label in (anomaly.WELL, *anomaly.FAULTS):
        spectrum = anomaly.spectra(anomaly.clip(rng, label)[None])
        yield label, lines(spectrum, 6000, 9500)


def room():
    """Return panels of a day's readings."""
    readings, _ = forest.day(seed=0)
    for k, name in enumerate(forest.FEATURES[:4]):
        values = readings[::20, k]
        yield name, lines(values[None], values.min(), values.max())


PICTURES = {
    "digits": digits,
    "keywords": keyword_spectra,
    "shapes": frames,
    "gesture": motions,
    "anomaly": vibrations,
    "forest": room,
}


def image(pixels: np.ndarray, **attributes: str):
    """Return an element that shows pixels (rows, columns) from 0 to 255."""
    rows = np.clip(np.round(pixels), 0, 255).astype(np.uint8)
    height, width = rows.shape
    packed = zlib.compress(b"".join(b"\0" + row.tobytes() for row in rows), 9)
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)  # 8 bits of gray
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in ((b"IHDR", head), (b"IDAT", packed), (b"IEND", b""))
    )
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    attributes["style"] = "image-rendering: pixelated"
    return element("image", href=url, width=_WIDTH, height=_HEIGHT, **attributes)


def lines(curves: np.ndarray, low: float, high: float):
    """Return an element with a line for each row of curves."""
    x = np.linspace(0, _WIDTH, curves.shape[1])
    drawn = []
    for curve, colour in zip(curves, _COLOURS, strict=False):
        y = _HEIGHT * (1 - (np.clip(curve.astype(float), low, high) - low) / (high - low))
        points = " ".join(f"{a:.0f},{b:.1f}" for a, b in zip(x, y, strict=True))
        drawn.append(element("polyline", points=points, fill="none", stroke=colour))
    return element("g", *drawn)


def picture(panels) -> str:
    """Return an SVG of panels (label, element) side by side."""
    drawn = []
    for k, (label, panel) in enumerate(panels):
        frame = element("rect", width=_WIDTH, height=_HEIGHT, fill="none", stroke="#bdbdbd")
        text = element("text", label, x=_WIDTH / 2, y=_HEIGHT + _TEXT - 2, text_anchor="middle")
        move = f"translate({_GAP + k * (_WIDTH + _GAP)} {_GAP})"
        drawn.append(element("g", panel, frame, text, transform=move))
    width = len(drawn) * (_WIDTH + _GAP) + _GAP
    height = _HEIGHT + 2 * _GAP + _TEXT
    background = element("rect", width=width, height=height, fill="white")
    size = {"xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height}
    return element("svg", background, *drawn, **size, font_family="sans-serif", font_size=12)


if __name__ == "__main__":
    sys.exit(main())
