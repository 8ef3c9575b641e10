"""Counts a model's run on a target."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np

from tools import package
from tools.converter.convert import Converted
from tools.converter.reference.golden import random_inputs
from tools.format.layout import element_bytes
from tools.machine import Machine
from tools.micropython import Target, TargetError, get_target
from tools.program.build import build

from . import valgrind
from .timing import blocks
from .timing.cores import CORES, Estimate, estimate

_FOLDER = Path(__file__).parent
_TIMEOUT = 900.0  # seconds
_UNIX_HEAP = 16 << 20  # collecting garbage, which some runs see, goes through all of it


@dataclass(frozen=True)
class Count:
    """instructions: of one steady-state run(); heap_bytes_after_load: with code and arena, at most
    once collected; heap_growth_bytes: what one run allocates; steps: instructions of each step,
    none where valgrind counts; in_loops: of the run's instructions, those within loops, unless
    valgrind counts, loops are plain, or a run allocates (what collects garbage runs anywhere);
    load: of loading the model once more, digests included, unless valgrind counts.
    """

    instructions: int
    heap_bytes_after_load: int
    heap_growth_bytes: int | None
    steps: tuple[int, ...] = ()
    in_loops: int | None = None
    load: int | None = None


def count(
    converted: Converted,
    target_name: str,
    forms: Sequence[str] = (),
    code: Path | None = None,
) -> Count:
    """Runs the converted model on random inputs. Raises TargetError.

    forms: of loops, to be preferred; code: a folder with mpconnxr, as source or compiled (default:
    the package that is built). On QEMU a counter of the board counts, on unix valgrind does.
    """
    target = get_target(target_name)
    files = input_files(converted) | script_files(target, "on_device.py")
    files |= {"mpconnxr": code} if code else {}
    if target_name.startswith("unix"):
        return _count_by_valgrind(target, files, forms)
    found = printed(target, files, [",".join(forms), "1"])
    per_instruction = target.counter[1]
    ticks = min(found["counts"]) - found["empty"]
    steps = tuple(round((t - found["empty"]) / per_instruction) for t in found["steps"])
    loops = None
    if found["loops"] is not None and not found["grown"]:
        loops = round(found["loops"] / per_instruction)
    load = round(found["load"] / per_instruction)
    return Count(round(ticks / per_instruction), found["heap"], found["grown"], steps, loops, load)


@dataclass(frozen=True)
class Cycles:
    """estimate: of one steady-state run(); output: the bytes of its first output;
    heap_growth_bytes: what the run allocates.
    """

    estimate: Estimate
    output: bytes
    heap_growth_bytes: int


def cycles(
    converted: Converted,
    target_name: str,
    forms: Sequence[str] = (),
    code: Path | None = None,
    sample: np.ndarray | None = None,
    program: bool = False,
) -> Cycles:
    """Of the converted model on a target of timing.cores. Raises TargetError.

    sample: the only input; default: random ones; program: as a program, not with its kernels.
    Raises CannotRecord and DeployError, too, for what can be no program.
    """
    target = get_target(target_name)
    files = input_files(converted) | script_files(target, "on_device_cycles.py")
    files |= {"mpconnxr": code} if code else {}
    if program:
        made = build(converted.data, Machine.for_arch(target.arch), stream=False)
        files = {name: f for name, f in files.items() if name != "mpconnxr"} | made.files
    if sample is not None:
        files["x0"] = element_bytes(np.ascontiguousarray(sample))
    with tempfile.TemporaryDirectory(prefix="mpconnxr-") as name:
        report = Path(name) / "blocks"
        found = printed(blocks.counting(target, report), files, [",".join(forms)])
        ran = blocks.blocks_in(report)
    core, is_loaded = CORES[target_name], blocks.is_loaded(target)
    output = bytes.fromhex(found["output"])
    return Cycles(estimate(ran, core, is_loaded), output, found["grown"])


def input_files(converted: Converted) -> dict[str, Path | bytes]:
    """The package, model.bin, and random inputs x0, x1, ..."""
    files = {"mpconnxr": package.folder(), "model.bin": converted.data}
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


def script_files(target: Target, name: str) -> dict[str, bytes]:
    """A script of this folder as script.py, and the counter of time that it imports."""
    address, _ = getattr(target, "counter", (0, 1.0))
    text = (_FOLDER / name).read_text()
    ticks = (_FOLDER / "on_device_ticks.py").read_text().replace("= COUNTER", f"= {address}")
    return {"script.py": text.encode(), "on_device_ticks.py": ticks.encode()}


def printed(target: Target, files: dict, args: Sequence[str] = (), icount: bool = True) -> dict:
    """The JSON object that script.py prints there. Raises TargetError."""
    run = 'exec(open("script.py").read())'
    done = target.run(run, files=files, args=args, timeout=_TIMEOUT, icount=icount)
    if done.returncode:
        raise TargetError(f"{target.name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def collection() -> Path:
    """The folder of the model collection."""
    return Path(os.environ.get("MPCONNXR_ZOO", "../shared/models"))


def _count_by_valgrind(target, files, forms):
    """What one more run adds to the whole process: the median, as some collect garbage besides."""
    done = [_valgrind(target, files, forms, repeat) for repeat in range(1, 5)]
    found = json.loads(done[-1][1])
    added = median(b[0] - a[0] for a, b in pairwise(done))
    return Count(added, found["heap"], found["grown"])


def _valgrind(target, files, forms, repeat):
    options = ["-X", f"heapsize={_UNIX_HEAP}", "script.py", ",".join(forms), str(repeat)]
    with tempfile.TemporaryDirectory(prefix="mpconnxr-") as name:
        laid_out(Path(name), files)
        instructions, output = valgrind.counted(
            [str(target.build()), *options],
            _TIMEOUT,
            Path(name),
            before=("setarch", "-R"),  # addresses that look like objects keep garbage, or do not
            options=("--smc-check=all",),
        )
    return instructions, output.splitlines()[-1]
