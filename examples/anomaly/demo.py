"""Convert anomaly.onnx and monitor a simulated fan under MicroPython on this computer.

    python -m examples.anomaly.demo [--target unix32] [-n N]

It writes model.bin and vibration.bin, which a board needs too, to build/anomaly.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.converter.convert import convert

from .. import running
from . import data

HERE = Path(__file__).parent
N, FEW = 40, 8


def main(argv: list[str] | None = None) -> int:
    target, n = running.arguments(argv, "anomaly", __doc__, N, FEW)
    folder = running.build_folder("anomaly")
    clips, faults = data.clips(n, seed=3, labels=(data.WELL,) * 4 + data.FAULTS)
    (folder / "model.bin").write_bytes(convert(HERE / "anomaly.onnx").data)
    (folder / "vibration.bin").write_bytes(running.int16_bytes(clips))
    print(f"{n} simulated clips of a fan on {target.name}: {target.about}", flush=True)
    files = {name: folder / name for name in ("model.bin", "vibration.bin")}
    printed = running.run(target, HERE / "on_device.py", files)
    predicted, us = running.predictions(printed)
    for label in data.LABELS:
        judged = [f for f, fault in zip(predicted, faults, strict=True) if fault == label]
        print(f"{label:10} {judged.count('ill'):2} of {len(judged):2} found ill")
    right = sum((a == data.WELL) == (b == "well") for a, b in zip(faults, predicted, strict=True))
    running.print_figures(right, n, us, printed, folder / "model.bin")
    return 0


if __name__ == "__main__":
    sys.exit(main())
