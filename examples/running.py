"""What the demos share: their build folder, arguments, running on a target."""

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


def arguments(
    argv: Sequence[str] | None, example: str, about: str, n: int, few: int, least: int = 1
) -> tuple[Target, int]:
    """Return the target that the command line names, and how many recordings to judge there.

    n: the default; few: the default on an emulated board.
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
    """Where an example leaves what a board needs."""
    folder = ROOT / "build" / example
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def run(
    target: Target, script: Path, files: Mapping[str, Path | bytes], on_line: OnLine = None
) -> str:
    """Run a script with the package beside it, return what it prints; exit with its traceback.

    on_line: gets each line as it comes.
    """
    files = {**_package(target, files.values()), **files}
    done = target.run(script, files=files, timeout=TIMEOUT, on_line=on_line)
    if done.returncode:
        sys.exit(f"demo: {script.name} failed on {target.name}\n{done.stderr}")
    return done.stdout


def _package(target: Target, files: Iterable[Path | bytes]) -> dict[str, Path | bytes]:
    """mpconnxr/ for a target: its sources; for a board what the models among the files need of
    it, compiled as tools/flash.py does: an emulated one would take minutes to compile it.
    """
    if not isinstance(target, RomTarget):
        return {"mpconnxr": ROOT / "mpconnxr"}
    found = {}
    for file in files:
        data = file if isinstance(file, bytes) else file.read_bytes()
        if data.startswith(MAGIC):
            model = parse_model("model.bin", data)
            model = replace(model, optional=model.optional | {"audio"})
            code = code_for(model, Package(), Machine.for_arch(target.arch))
            found |= {f.path: f.data for f in code}
    return found


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
    print(f"arena          {int(arena[1]):,} bytes of RAM: tensors, weights of a step")
    print(f"model.bin      {model.stat().st_size:,} bytes")


def tell(
    target: Target,
    script: Path,
    folder: Path,
    names: Sequence[str],
    labels: Sequence[str],
    wanted: Sequence[str],
) -> str:
    """Run a script that tells classes, print a table and figures, return the script's output.

    names: of its files in the folder, model.bin among them; wanted: the right labels.
    """
    printed = run(target, script, {name: folder / name for name in names})
    found, us = predictions(printed)
    print_table(labels, wanted, found)
    right = sum(a == b for a, b in zip(wanted, found, strict=True))
    print_figures(right, len(wanted), us, printed, folder / "model.bin")
    return printed


def int16_bytes(values: np.ndarray) -> bytes:
    """Little-endian int16, saturated: what sensors give."""
    return np.clip(np.round(values), -32768, 32767).astype("<i2").tobytes()
