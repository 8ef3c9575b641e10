"""Convert forest.onnx and follow a simulated day under MicroPython on this computer.

    python -m examples.forest.demo [--target unix32] [-n N]

It writes model.bin and readings.csv, which a board needs too, to build/forest.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tools.converter.convert import convert

from .. import running
from . import data

HERE = Path(__file__).parent
N, FEW = 2870, 40  # answers of a day


def main(argv: list[str] | None = None) -> int:
    target, n = running.arguments(argv, "forest", __doc__, N, FEW)
    folder = running.build_folder("forest")
    readings, labels = data.day(seed=210)
    readings, labels = readings[: n + data.SPAN], labels[: n + data.SPAN]
    (folder / "model.bin").write_bytes(convert(HERE / "forest.onnx").data)
    lines = [",".join(f"{value:.2f}" for value in row) for row in readings]
    (folder / "readings.csv").write_text("\n".join(lines) + "\n")
    print(
        f"a simulated day of {len(lines):,} readings on {target.name}: {target.about}", flush=True
    )
    files = {name: folder / name for name in ("model.bin", "readings.csv")}
    printed = running.run(target, HERE / "on_device.py", files)
    predicted, us = running.predictions(printed)
    expected = [data.LABELS[label] for label in labels[data.SPAN :]]
    running.print_table(data.LABELS, expected, predicted)
    right = sum(a == b for a, b in zip(expected, predicted, strict=True))
    running.print_figures(right, len(expected), us, printed, folder / "model.bin")
    return 0


if __name__ == "__main__":
    sys.exit(main())
