"""Convert gesture.onnx and classify simulated gestures under MicroPython on this computer.

    python -m examples.gesture.demo [--target unix32] [-n N]

It writes model.bin and gestures.bin, which a board needs too, to build/gesture.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.converter.convert import convert

from .. import running
from . import data

HERE = Path(__file__).parent
N, FEW = 100, 5


def main(argv: list[str] | None = None) -> int:
    target, n = running.arguments(argv, "gesture", __doc__, N, FEW)
    folder = running.build_folder("gesture")
    windows, labels = data.windows(n, seed=2)
    (folder / "model.bin").write_bytes(convert(HERE / "gesture.onnx").data)
    (folder / "gestures.bin").write_bytes(running.int16_bytes(windows))
    print(f"{n} simulated gestures on {target.name}: {target.about}", flush=True)
    expected = [data.LABELS[label] for label in labels]
    files = ("model.bin", "gestures.bin")
    running.classify(target, HERE / "on_device.py", folder, files, data.LABELS, expected)
    return 0


if __name__ == "__main__":
    sys.exit(main())
