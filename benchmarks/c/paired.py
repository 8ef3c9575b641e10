"""Compare the processor time of mpconnxr and of compiled C on this computer.

Both are processes that live through all rounds and take turns, so that other load slows both down
alike. The ratio is the median over rounds; it is printed and decides nothing.
"""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.bench.measure import input_files, laid_out
from tools.converter.convert import Converted
from tools.micropython import TargetError, get_target

from . import build

_SCRIPT = Path(__file__).parent / "on_device_paired.py"
_ROUNDS = 15
_TURN = 50e6  # least nanoseconds of a turn; MicroPython's clock counts milliseconds
_HEAP = 256 << 20


@dataclass(frozen=True)
class Paired:
    """Median nanoseconds of one run, and the median ratio of the rounds."""

    ours: float
    c: float
    ratio: float


def measure(converted: Converted, text: str) -> Paired:
    """Time the converted model and its C code at -O3.

    Args:
        converted: the model.
        text: of model.h (see `code`).

    Raises:
        TargetError: if one of them fails.
    """
    executable = get_target("unix").build()
    files = input_files(converted) | {"paired.py": _SCRIPT.read_bytes()}
    with tempfile.TemporaryDirectory(prefix="mpconnxr-") as name:
        folder = Path(name)
        laid_out(folder, files)
        program = build.timed_on_host(folder, text)
        ours = [str(executable), "-X", f"heapsize={_HEAP}", "paired.py"]
        with _runner(ours, folder) as a, _runner([str(program)], folder) as b:
            turns = [(run, _runs_of_a_turn(run)) for run in (a, b)]
            rounds = [[run(n) / n for run, n in turns] for _ in range(_ROUNDS)]
    medians = [statistics.median(column) for column in zip(*rounds, strict=True)]
    return Paired(*medians, statistics.median(ours / c for ours, c in rounds))


@contextlib.contextmanager
def _runner(command, folder) -> Iterator:
    """Yield a function that runs the model n times in the process and returns the nanoseconds."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=folder, text=True, **pipes) as process:

        def run(n):
            try:
                process.stdin.write(f"{n}\n")
                process.stdin.flush()
            except BrokenPipeError:
                raise TargetError(f"{command[0]}: {process.stderr.read()[-500:]}") from None
            line = process.stdout.readline()
            if not line:
                raise TargetError(f"{command[0]}: {process.stderr.read()[-500:]}")
            return int(line)

        try:
            yield run
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()


def _runs_of_a_turn(run):
    """Return how many runs a turn needs; this also warms up."""
    n = 1
    while (taken := run(n)) < _TURN:
        n *= 2 if taken > _TURN / 8 else 8
    return n
