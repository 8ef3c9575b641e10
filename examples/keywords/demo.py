"""Convert keywords.onnx and recognize synthesised words under MicroPython on this computer.

    python -m examples.keywords.demo [--target unix32] [-n N]

It writes model.bin and words.wav, to listen to and for a board, to build/keywords.
"""

from __future__ import annotations

import re
import sys
import wave
from pathlib import Path

import numpy as np

from tools.converter.convert import convert

from .. import running
from . import data
from .features import RATE

HERE = Path(__file__).parent
N, FEW = 25, 5


def main(argv: list[str] | None = None) -> int:
    target, n = running.arguments(argv, "keywords", __doc__, N, FEW)
    folder = running.build_folder("keywords")
    clips, labels = data.clips(n, seed=2)
    (folder / "model.bin").write_bytes(convert(HERE / "keywords.onnx").data)
    write_wav(folder / "words.wav", clips)
    print(f"{n} synthesised clips of 1 s on {target.name}: {target.about}", flush=True)
    expected = [data.LABELS[label] for label in labels]
    files = ("model.bin", "words.wav")
    printed = running.classify(target, HERE / "on_device.py", folder, files, data.LABELS, expected)
    frame_us = int(re.findall(r"spectra (\d+) us a frame", printed)[-1])
    print(f"spectra        {frame_us / 1000:.2f} ms a frame, of which a second has 50")
    return 0


def write_wav(path: Path, clips: np.ndarray) -> None:
    with wave.open(str(path), "wb") as f:
        f.setnchannels(1)
        f.setsampwidth(2)
        f.setframerate(RATE)
        f.writeframes(clips.astype("<i2").tobytes())


if __name__ == "__main__":
    sys.exit(main())
