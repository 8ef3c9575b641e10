"""Counts a model's run on a target."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np

from tools.converter.convert import Converted
from tools.converter.reference.golden import random_inputs
from tools.format.layout import element_bytes
from tools.micropython import Target, TargetError, get_target

PACKAGE = Path(__file__).parents[2] / "mpconnxr"
_SCRIPT = Path(__file__).parent / "on_device.py"
_TIMEOUT = 900.0  # seconds
_UNIX_HEAP = 16 << 20  # collecting garbage, which some runs see, goes through all of it


@dataclass(frozen=True)
class Count:
    """instructions: of one steady-state run(); heap_bytes_after_load: with code and arena, at most
    once collected; heap_growth_bytes: what one run allocates; steps: instructions of each step,
    none where valgrind counts; in_loops: of the run's instructions, those within loops, unless
    valgrind counts, loops are plain, or a run allocates (what collects garbage runs anywhere).
    """

    instructions: int
    heap_bytes_after_load: int
    heap_growth_bytes: int | None
    steps: tuple[int, ...] = ()
    in_loops: int | None = None


def count(
    converted: Converted,
    target_name: str,
    forms: Sequence[str] = (),
    package: Path = PACKAGE,
) -> Count:
    """Runs the converted model on random inputs. Raises TargetError.

    forms: of loops, to be preferred; package: the folder of mpconnxr, source or compiled. On QEMU
    a counter of the board counts; on the unix targets valgrind does.
    """
    target = get_target(target_name)
    files = _files(converted, getattr(target, "counter", (0, 1.0))[0]) | {"mpconnxr": package}
    if target_name.startswith("unix"):
        return _count_by_valgrind(target, files, forms)
    found = _run(target, files, forms, repeat=1)
    per_instruction = target.counter[1]
    ticks = min(found["counts"]) - found["empty"]
    steps = tuple(round((t - found["empty"]) / per_instruction) for t in found["steps"])
    loops = None
    if found["loops"] is not None and not found["grown"]:
        loops = round(found["loops"] / per_instruction)
    return Count(round(ticks / per_instruction), found["heap"], found["grown"], steps, loops)


def input_files(converted: Converted) -> dict[str, Path | bytes]:
    """The package, model.bin, and random inputs x0, x1, ..."""
    files = {"mpconnxr": PACKAGE, "model.bin": converted.data}
    for i, x in enumerate(random_inputs(converted.graph)):
        files[f"x{i}"] = element_bytes(np.ascontiguousarray(x))
    return files


def laid_out(folder: Path, files: dict[str, Path | bytes]) -> None:
    """Writes them to the folder, or links there what is a path."""
    for name, content in files.items():
        if isinstance(content, Path):
            (folder / name).symlink_to(content)
        else:
            (folder / name).write_bytes(content)


def _files(converted, counter):
    text = _SCRIPT.read_text().replace("= COUNTER", f"= {counter}")
    return input_files(converted) | {"bench.py": text.encode()}


def _run(target: Target, files, forms, repeat):
    done = target.run(
        'exec(open("bench.py").read())',
        files=files,
        args=[",".join(forms), str(repeat)],
        timeout=_TIMEOUT,
        icount=True,
    )
    if done.returncode:
        raise TargetError(f"{target.name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def _count_by_valgrind(target, files, forms):
    """What one more run adds to the whole process: the median, as some collect garbage besides."""
    done = [_valgrind(target, files, forms, repeat) for repeat in range(1, 5)]
    found = json.loads(done[-1][1])
    added = median(b[0] - a[0] for a, b in pairwise(done))
    return Count(added, found["heap"], found["grown"])


def _valgrind(target, files, forms, repeat):
    if shutil.which("valgrind") is None:
        raise TargetError("valgrind is needed to count on this computer")
    with tempfile.TemporaryDirectory(prefix="mpconnxr-") as name:
        folder = Path(name)
        laid_out(folder, files)
        command = [
            *("setarch", "-R"),  # addresses that look like objects keep garbage, or do not
            "valgrind",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--smc-check=all",
        ]
        command += [str(target.build()), "-X", f"heapsize={_UNIX_HEAP}", "bench.py"]
        command += [",".join(forms), str(repeat)]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            raise TargetError(f"{target.name}: no end within {_TIMEOUT:.0f} s") from None
    total = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not total:
        raise TargetError(f"{target.name}: {done.stderr[-500:]}")
    return int(total.group(1)), done.stdout.splitlines()[-1]
