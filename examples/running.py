"""Shared by the demos: arguments, build folder, running on a target, printing results."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from tools.deploy.code import code_for
from tools.deploy.model_file import parse_model
from tools.deploy.modules import Package
from tools.format.layout import MAGIC
from tools.machine import Machine
from tools.micropython import Target, get_target, target_names
from tools.micropython.process import OnLine
from tools.micropython.rom import RomTarget

EXAMPLES = Path(__file__).parent
ROOT = EXAMPLES.parent
TIMEOUT = 900  # s
_IMPORTED = {"io.audio", "signal.smoothing", "signal.windows"}  # by programs on_device.py


def arguments(
    argv: Sequence[str] | None, example: str, about: str, n: int, few: int, least: int = 1
) -> tuple[Target, int]:
    """Parse a demo's command line: return the target and the number of recordings to classify.

    Args:
        argv: arguments; None: those of the process.
        example: name of the example.
        about: help text.
        n: default number of recordings.
        few: default number on an emulated board.
        least: smallest allowed number.
    """
    parser = argparse.ArgumentParser(
        f"python -m examples.{example}.demo", description=about.partition("\n")[0]
    )
    parser.add_argument("--target", default="unix", choices=target_names())
    parser.add_argument(
        "-n", type=int, help=f"how many recordings ({n}, on an emulated board {few})"
    )
    args = parser.parse_args(argv)
    target = get_target(args.target)
    if args.n is None:
        args.n = few if isinstance(target, RomTarget) else n
    if args.n < least:
        parser.error(f"-n: at least {least}")
    return target, args.n


def build_folder(example: str) -> Path:
    """Return the folder for the files that a board needs."""
    folder = ROOT / "build" / example
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(
    target: Target, script: Path, files: Mapping[str, Path | bytes], on_line: OnLine = None
) -> str:
    """Run a script with the package beside it and return its output; exit if it fails.

    Args:
        target: where to run it.
        script: the script.
        files: files beside it, by name.
        on_line: called with each line of output as it comes.
    """
    files = {**_package(target, files.values()), **files}
    done = target.run(script, files=files, timeout=TIMEOUT, on_line=on_line)
    if done.returncode:
        sys.exit(f"demo: {script.name} failed on {target.name}\n{done.stderr}")
    return done.stdout


def _package(target: Target, files: Iterable[Path | bytes]) -> dict[str, Path | bytes]:
    """Return mpconnxr/ for a target.

    A board gets only the modules that the models need, compiled as `mpconnxr flash` does: an
    emulated board would take minutes to compile them.
    """
    if not isinstance(target, RomTarget):
        return {"mpconnxr": ROOT / "mpconnxr"}
    package = {}
    for file in files:
        data = file if isinstance(file, bytes) else file.read_bytes()
        if data.startswith(MAGIC):
            model = parse_model("model.bin", data)
            model = replace(model, optional=model.optional | _IMPORTED)
            code = code_for(model, Package(), Machine.for_arch(target.arch))
            package |= {f.path: f.data for f in code}
    return package


def predictions(printed: str) -> tuple[list[str], list[int]]:
    """Return the labels and microseconds in lines `LABEL in N us`."""
    lines = re.findall(r"^(\S+) in (\d+) us", printed, re.MULTILINE)
    return [label for label, _ in lines], [int(us) for _, us in lines]


def print_table(labels: Sequence[str], expected: Sequence[str], predicted: Sequence[str]) -> None:
    """Print the confusion matrix: a row for each class, a column for each prediction."""
    width = max(len(label) for label in (*labels, "taken for")) + 1
    print(" " * width + "".join(f"{label:>{width}}" for label in labels))
    for row in labels:
        counts = [
            sum(e == row and p == column for e, p in zip(expected, predicted, strict=True))
            for column in labels
        ]
        print(f"{row:{width}}" + "".join(f"{n or '.':>{width}}" for n in counts))


def print_figures(right: int, n: int, us: Sequence[int], printed: str, model: Path) -> None:
    """Print accuracy, median time, arena and file size."""
    arena = re.search(r"^arena (\d+) bytes$", printed, re.MULTILINE)
    print(f"accuracy       {right} of {n} ({right / n:.1%})")
    print(f"time           {median(us) / 1000:.2f} ms each (median)")
    print(f"arena          {int(arena[1]):,} bytes of RAM: tensors, weights of a step")
    print(f"model.bin      {model.stat().st_size:,} bytes")


def classify(
    target: Target,
    script: Path,
    folder: Path,
    names: Sequence[str],
    labels: Sequence[str],
    expected: Sequence[str],
) -> str:
    """Run a script that classifies, print a table and figures, and return the script's output.

    Args:
        target: where to run it.
        script: the script.
        folder: of the files.
        names: of the files, model.bin among them.
        labels: of the classes.
        expected: right labels.
    """
    printed = run(target, script, {name: folder / name for name in names})
    predicted, us = predictions(printed)
    print_table(labels, expected, predicted)
    right = sum(a == b for a, b in zip(expected, predicted, strict=True))
    print_figures(right, len(expected), us, printed, folder / "model.bin")
    return printed


def int16_bytes(values: np.ndarray) -> bytes:
    """Return little-endian int16, saturated, as sensors provide it."""
    return np.clip(np.round(values), -32768, 32767).astype("<i2").tobytes()
