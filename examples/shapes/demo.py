"""Convert shapes.onnx and classify drawn shapes under MicroPython on this computer.

    python -m examples.shapes.demo [--target unix32] [-n N]

It writes model.bin and frames.bin, which a board needs too, to build/shapes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.converter.convert import Options, convert
from tools.converter.file.interface import image_from

from .. import running
from . import data

HERE = Path(__file__).parent
N, FEW = 20, 4


def main(argv: list[str] | None = None) -> int:
    target, n = running.arguments(argv, "shapes", __doc__, N, FEW)
    folder = running.build_folder("shapes")
    frames, labels = data.frames(n, seed=2)
    options = Options(images={"picture": image_from("gray,crop,scale=255")})
    (folder / "model.bin").write_bytes(convert(HERE / "shapes.onnx", options).data)
    (folder / "frames.bin").write_bytes(data.rgb565(frames))
    print(f"{n} drawn frames of a camera on {target.name}: {target.about}", flush=True)
    expected = [data.LABELS[label] for label in labels]
    files = ("model.bin", "frames.bin")
    running.classify(target, HERE / "on_device.py", folder, files, data.LABELS, expected)
    return 0


if __name__ == "__main__":
    sys.exit(main())
