"""What the demos share: their build folder, their arguments, and running on a target."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from tools.micropython import Target, get_target, target_names

EXAMPLES = Path(__file__).parent
ROOT = EXAMPLES.parent
TIMEOUT = 900  # s


def arguments(
    argv: Sequence[str] | None, example: str, about: str, n: int, least: int = 1
) -> tuple[Target, int]:
    """The target that the command line names, and how many recordings are to be judged there."""
    parser = argparse.ArgumentParser(
        f"python -m examples.{example}.demo", description=about.partition("\n")[0]
    )
    parser.add_argument("--target", default="unix", choices=target_names())
    parser.add_argument("-n", type=int, default=n, help=f"how many recordings ({n})")
    args = parser.parse_args(argv)
    if args.n < least:
        parser.error(f"-n: at least {least}")
    return get_target(args.target), args.n


def build_folder(example: str) -> Path:
    """Where an example leaves what a board needs."""
    folder = ROOT / "build" / example
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(target: Target, script: Path, files: Mapping[str, Path | bytes]) -> str:
    """What a script printed that has the package beside it. Exits with its traceback."""
    files = {"mpconnxr": ROOT / "mpconnxr", **files}
    done = target.run(script, files=files, timeout=TIMEOUT)
    if done.returncode:
        sys.exit(f"demo: {script.name} failed on {target.name}\n{done.stderr}")
    return done.stdout


def predictions(printed: str) -> tuple[list[str], list[int]]:
    """Labels and microseconds of the lines `LABEL in N us`."""
    found = re.findall(r"^(\S+) in (\d+) us", printed, re.MULTILINE)
    return [label for label, _ in found], [int(us) for _, us in found]


def print_table(labels: Sequence[str], wanted: Sequence[str], found: Sequence[str]) -> None:
    """How often each class was taken for which."""
    width = max(len(label) for label in (*labels, "taken for")) + 1
    print(" " * width + "".join(f"{label:>{width}}" for label in labels))
    for row in labels:
        counts = [
            sum(w == row and f == column for w, f in zip(wanted, found, strict=True))
            for column in labels
        ]
        print(f"{row:{width}}" + "".join(f"{n or '.':>{width}}" for n in counts))


def print_figures(right: int, n: int, us: Sequence[int], printed: str, model: Path) -> None:
    """Accuracy, median time, arena, file."""
    arena = re.search(r"^arena (\d+) bytes$", printed, re.MULTILINE)
    print(f"accuracy       {right} of {n} ({right / n:.1%})")
    print(f"time           {median(us) / 1000:.2f} ms each (median)")
    print(f"arena          {int(arena[1]):,} bytes of RAM for all tensors")
    print(f"model.bin      {model.stat().st_size:,} bytes")


def int16_bytes(values: np.ndarray) -> bytes:
    """Little-endian int16, saturated: what sensors give."""
    return np.clip(np.round(values), -32768, 32767).astype("<i2").tobytes()
