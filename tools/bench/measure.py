"""Count a model's run on a target, and estimate its cycles."""

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

FOLDER = Path(__file__).parent
_TIMEOUT = 900.0  # seconds
_UNIX_HEAP = 16 << 20  # a garbage collection takes time in proportion to it


@dataclass(frozen=True)
class Count:
    """Counts of one model.

    Attributes:
        instructions: instructions of one steady-state run().
        heap_bytes_after_load: code and arena, after at most one garbage collection.
        heap_growth_bytes: bytes that one run allocates.
        steps: instructions of each step; empty if valgrind counts.
        in_loops: instructions of the run inside loops; None if valgrind counts, loops are plain,
            or a run allocates (a garbage collection could fall into any of them).
        load: instructions to load the model again, digests included; None if valgrind counts.
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
    """Run the converted model on random inputs: on QEMU a counter counts, on unix valgrind does.

    Args:
        converted: the model.
        target_name: the target that runs it.
        forms: preferred forms of loops.
        code: folder of mpconnxr, as source or compiled; default: the built package.

    Raises:
        TargetError: if the run fails.
    """
    target = get_target(target_name)
    files = input_files(converted) | script_files(target, FOLDER / "on_device.py")
    files |= {"mpconnxr": code} if code else {}
    if target_name.startswith("unix"):
        return _count_by_valgrind(target, files, forms)
    report = printed(target, files, [",".join(forms), "1"])
    per_instruction = target.counter[1]
    ticks = min(report["counts"]) - report["empty"]
    steps = tuple(round((t - report["empty"]) / per_instruction) for t in report["steps"])
    loops = None
    if report["loops"] is not None and not report["grown"]:
        loops = round(report["loops"] / per_instruction)
    load = round(report["load"] / per_instruction)
    instructions = round(ticks / per_instruction)
    return Count(instructions, report["heap"], report["grown"], steps, loops, load)


@dataclass(frozen=True)
class Cycles:
    """Estimated cycles of one model.

    Attributes:
        estimate: cycles of one steady-state run().
        output: bytes of its first output.
        heap_growth_bytes: bytes that the run allocates.
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
    """Estimate the cycles of a run on an ARM core.

    Args:
        converted: the model.
        target_name: a target of timing.cores.
        forms: preferred forms of loops.
        code: folder of mpconnxr; default: the built package.
        sample: the only input; default: random inputs.
        program: run the model as a program, not with its kernels.

    Raises:
        TargetError: if the run fails.
        CannotRecord: if the model cannot be a program.
        DeployError: if the program cannot be built.
    """
    target = get_target(target_name)
    files = input_files(converted) | script_files(target, FOLDER / "on_device_cycles.py")
    files |= {"mpconnxr": code} if code else {}
    if program:
        made = build(converted.data, Machine.for_arch(target.arch), stream=False)
        files = {name: f for name, f in files.items() if name != "mpconnxr"} | made.files
    if sample is not None:
        files["x0"] = element_bytes(np.ascontiguousarray(sample))
    with tempfile.TemporaryDirectory(prefix="mpconnxr-") as name:
        path = Path(name) / "blocks"
        report = printed(blocks.counting(target, path), files, [",".join(forms)])
        ran = blocks.blocks_in(path)
    core, is_loaded = CORES[target_name], blocks.is_loaded(target)
    output = bytes.fromhex(report["output"])
    return Cycles(estimate(ran, core, is_loaded), output, report["grown"])


def input_files(converted: Converted) -> dict[str, Path | bytes]:
    """Return the package, model.bin, and random inputs x0, x1, ... as {name: path or bytes}."""
    files = {"mpconnxr": package.folder(), "model.bin": converted.data}
    for i, x in enumerate(random_inputs(converted.graph)):
        files[f"x{i}"] = element_bytes(np.ascontiguousarray(x))
    return files


def laid_out(folder: Path, files: dict[str, Path | bytes]) -> None:
    """Write files to a folder; a file that is a path becomes a link."""
    for name, content in files.items():
        if isinstance(content, Path):
            (folder / name).symlink_to(content)
        else:
            (folder / name).write_bytes(content)


def script_files(target: Target, script: Path) -> dict[str, bytes]:
    """Return `script` as script.py, and on_device_ticks.py, which reads the target's counter."""
    address, _ = getattr(target, "counter", (0, 1.0))
    ticks = (FOLDER / "on_device_ticks.py").read_text().replace("= COUNTER", f"= {address}")
    return {"script.py": script.read_bytes(), "on_device_ticks.py": ticks.encode()}


def printed(target: Target, files: dict, args: Sequence[str] = (), icount: bool = True) -> dict:
    """Run script.py on the target and return the JSON object that it prints.

    Args:
        target: the target.
        files: files for its folder, script.py among them.
        args: arguments of the script.
        icount: QEMU counts instructions as time.

    Raises:
        TargetError: if the script fails.
    """
    run = 'exec(open("script.py").read())'
    done = target.run(run, files=files, args=args, timeout=_TIMEOUT, icount=icount)
    if done.returncode:
        raise TargetError(f"{target.name}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def collection() -> Path:
    """Return the folder of the model collection."""
    return Path(os.environ.get("MPCONNXR_ZOO", "../shared/models"))


def _count_by_valgrind(target, files, forms):
    """Count the instructions that one more run adds to the process.

    Some runs collect garbage, so the median of three differences counts.
    """
    done = [_valgrind(target, files, forms, repeat) for repeat in range(1, 5)]
    report = json.loads(done[-1][1])
    added = median(b[0] - a[0] for a, b in pairwise(done))
    return Count(added, report["heap"], report["grown"])


def _valgrind(target, files, forms, repeat):
    options = ["-X", f"heapsize={_UNIX_HEAP}", "script.py", ",".join(forms), str(repeat)]
    with tempfile.TemporaryDirectory(prefix="mpconnxr-") as name:
        laid_out(Path(name), files)
        instructions, output = valgrind.counted(
            [str(target.build()), *options],
            _TIMEOUT,
            Path(name),
            before=("setarch", "-R"),  # random addresses would keep garbage alive at random
            options=("--smc-check=all",),
        )
    return instructions, output.splitlines()[-1]
