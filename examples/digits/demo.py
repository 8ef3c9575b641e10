"""Convert digits.onnx and classify the 450 test digits under MicroPython on this computer.

    python -m examples.digits.demo [--target unix32] [-n N]

It writes model.bin and images.bin, which a board needs too, to build/digits.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from tqdm import tqdm

from tools.converter.convert import convert
from tools.micropython import Target

from .. import running

HERE = Path(__file__).parent
BUILD = running.ROOT / "build" / "digits"
N, FEW = 450, 10

SHADES = " ░▒▓█"
SHOWN = 4  # pictures in a row: each is 16 characters wide


@dataclass
class Result:
    """Output of the device.

    Attributes:
        predicted: digit of each image.
        us: microseconds of each run.
        arena_bytes: size of the arena.
    """

    predicted: list[int]
    us: list[int]
    arena_bytes: int


def main(argv: list[str] | None = None) -> int:
    target, n = running.arguments(argv, "digits", __doc__, N, FEW)
    images, labels = (part[:n] for part in test_split())
    model = write_files(images, labels)
    print(f"{len(labels)} handwritten digits, read by MicroPython on this computer")
    print(f"(target {target.name}: {target.about})", flush=True)
    result = run(target, len(labels))
    show(images, labels, result)
    right = sum(p == int(label) for p, label in zip(result.predicted, labels, strict=True))
    print(f"accuracy       {right} of {len(labels)} ({right / len(labels):.1%})")
    print(f"time           {median(result.us) / 1000:.2f} ms for each digit (median)")
    print(f"arena          {result.arena_bytes:,} bytes of RAM: tensors, weights of a step")
    print(f"model.bin      {model.stat().st_size:,} bytes")
    return 0


def test_split() -> tuple[np.ndarray, np.ndarray]:
    """Return images uint8 (450, 8, 8) from 0 to 16, and labels uint8 (450,)."""
    with np.load(HERE / "digits_test.npz") as data:
        return data["images"], data["labels"]


def write_files(images: np.ndarray, labels: np.ndarray) -> Path:
    """Write model.bin, whose path is returned, and images.bin to the build folder."""
    BUILD.mkdir(parents=True, exist_ok=True)
    model = BUILD / "model.bin"
    model.write_bytes(convert(HERE / "digits.onnx").data)
    records = np.concatenate([images.reshape(len(labels), -1), labels[:, None]], axis=1)
    (BUILD / "images.bin").write_bytes(records.astype(np.uint8).tobytes())
    return model


def run(target: Target, n_images: int) -> Result:
    """Run on_device.py; exit with the device's traceback if it fails."""
    bar = tqdm(total=n_images, unit="digit", leave=False, disable=not sys.stderr.isatty())
    files = {name: BUILD / name for name in ("model.bin", "images.bin")}
    with bar:
        printed = running.run(
            target,
            HERE / "on_device.py",
            files,
            lambda line: bar.update(line.startswith("digit")),
        )
    lines = re.findall(r"^digit \d+ read as (\d+) in (\d+) us$", printed, re.MULTILINE)
    arena = re.search(r"^arena (\d+) bytes$", printed, re.MULTILINE)
    return Result([int(p) for p, _ in lines], [int(us) for _, us in lines], int(arena[1]))


def show(images: np.ndarray, labels: np.ndarray, result: Result) -> None:
    """Print a row of the first digits, and one of the first wrong ones."""
    wrong = [i for i, p in enumerate(result.predicted) if p != labels[i]]
    for indices in (list(range(SHOWN)), wrong[:SHOWN]):
        if not indices:
            continue
        print()
        for row in range(8):
            print("   ".join(picture_row(images[i, row]) for i in indices).rstrip())
        captions = (f"a {labels[i]}, read as {result.predicted[i]}" for i in indices)
        print("   ".join(f"{caption:16}" for caption in captions).rstrip())
    print()


def picture_row(pixels: np.ndarray) -> str:
    """Return two characters per pixel, so that it looks square."""
    return "".join(SHADES[max(0, int(p) * len(SHADES) - 1) // 16] * 2 for p in pixels)


if __name__ == "__main__":
    sys.exit(main())
