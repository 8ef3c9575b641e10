"""Run the models of two other examples in one arena, under MicroPython on this computer.

    python -m examples.two_models.demo [--target unix32] [-n N]

It writes the files that a board needs, too, to build/two_models.
"""

from __future__ import annotations

import re
import sys

from tools.converter.convert import Options, convert
from tools.converter.file.interface import image_from

from .. import running
from ..gesture import data as motions
from ..shapes import data as pictures

N, FEW = 40, 5  # windows of the accelerometer


def main(argv: list[str] | None = None) -> int:
    target, n = running.arguments(argv, "two_models", __doc__, N, FEW, len(motions.LABELS))
    folder = running.build_folder("two_models")
    windows, labels = motions.windows(n, seed=2)
    taps = int((labels == motions.LABELS.index("tap")).sum())
    frames, seen = pictures.frames(taps, seed=2)
    files = {
        "gesture.bin": convert(running.EXAMPLES / "gesture" / "gesture.onnx").data,
        "shapes.bin": convert(running.EXAMPLES / "shapes" / "shapes.onnx", _picture()).data,
        "gestures.bin": running.int16_bytes(windows),
        "frames.bin": pictures.rgb565(frames),
    }
    for name in ("gesture", "shapes"):
        program = running.EXAMPLES / name / "on_device.py"
        files[f"{name}.py"] = program.read_bytes()
    for name, contents in files.items():
        (folder / name).write_bytes(contents)
    print(f"{n} gestures, {taps} of them taps, on {target.name}: {target.about}", flush=True)
    script = running.EXAMPLES / "two_models" / "on_device.py"
    printed = running.run(target, script, {name: folder / name for name in files})
    predicted, us = running.predictions(printed)
    expected = [pictures.LABELS[label] for label in seen]
    for a, b in zip(expected, predicted, strict=False):
        print(f"tap: looks, and tells {b} ({a})")
    right = sum(a == b for a, b in zip(expected, predicted, strict=False))
    running.print_figures(right, taps, us, printed, folder / "shapes.bin")
    apart = re.search(r"^apart they need (\d+) bytes$", printed, re.MULTILINE)
    print(f"two arenas     {int(apart[1]):,} bytes they would be")
    return 0


def _picture():
    return Options(images={"picture": image_from("gray,crop,scale=255")})


if __name__ == "__main__":
    sys.exit(main())
