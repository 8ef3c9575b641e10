"""Run the cases of one seed, which are made on the host, in one process of a target."""

from __future__ import annotations

import functools
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random

import numpy as np

from tests.watch import STRAYED, watched
from tools import package
from tools.micropython import Target, TargetTimeout, get_target
from tools.micropython.qemu import QemuTarget

from . import modelfile, mutate
from .case_format import (
    AT_LEFT,
    FAULT,
    FORMS,
    HEADER,
    IN_MEMORY,
    POOL_NBYTES,
    STREAM,
    VERIFY,
)

SCRIPT = Path(__file__).with_name("on_target.py")
LIMIT_MS = 4000  # processor time that a case may take
HEAP = 4 << 20  # bytes
QUIET_S = 30  # of processor time without a line from a board: a case that does not end
_ENDS = 5  # of a process before its batch is done, where cases have no processes of their own


@dataclass(frozen=True)
class Case:
    """A damaged file, and how a target loads and runs it.

    Attributes:
        data: the file.
        changes: descriptions of the changes of the seed.
        options, form, runs, seed: see case_format.
    """

    data: bytes
    changes: tuple[str, ...]
    options: int
    form: int
    runs: int
    seed: int

    def record(self, number: int) -> bytes:
        about = (len(self.data), number, self.options, self.form, self.runs, self.seed)
        return struct.pack(HEADER, *about) + self.data

    def settings(self) -> dict:
        """Return all fields but the file, for JSON."""
        return {k: v for k, v in asdict(self).items() if k != "data"}


@dataclass(frozen=True)
class Fault:
    """A fault that a case showed.

    Attributes:
        kind: stray, signal, canary, file, exception, timeout, status or process.
        where: the last step that was prepared or run, "" if none was.
    """

    number: int
    kind: str
    what: str
    where: str = ""


@dataclass(frozen=True)
class Ended:
    """The results of a batch.

    Attributes:
        letters: one for each case, see case_format.
        seed_fault: the fault of the undamaged seed itself.
    """

    letters: str
    faults: tuple[Fault, ...]
    seed_fault: str = ""


def target_of(name: str) -> Target:
    """Return a target that detects stray accesses. In QEMU it is one that is watched."""
    target = get_target(name)
    return watched(target, quiet=QUIET_S) if isinstance(target, QemuTarget) else target


def make_cases(seed: bytes, n: int, rng: Random) -> list[Case]:
    """Return n damaged copies of a file, with options to load and run each."""
    file = modelfile.read(seed)
    return [_case(file, rng) for _ in range(n)]


def _case(file, rng):
    data, changes = mutate.mutated(file, rng)
    options = rng.choices((IN_MEMORY, STREAM, 0), (4, 3, 3))[0]
    options |= (VERIFY if rng.random() < 0.8 else 0) | (AT_LEFT if rng.random() < 0.4 else 0)
    form = rng.randrange(1, FORMS) if rng.random() < 0.4 else 0
    return Case(data, tuple(changes), options, form, 2, rng.getrandbits(32))


@functools.cache
def inputs() -> bytes:
    """Return a pool of bytes for each kind of values that inputs are filled with."""
    rng = np.random.default_rng(1)
    n = POOL_NBYTES // 4
    extremes = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1e-45, 3.4e38, -3.4e38, 1, -1], "<f4")
    ends = np.array([0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0, 1], "<u4")
    pools = (
        rng.bytes(POOL_NBYTES),
        rng.standard_normal(n).astype("<f4").tobytes(),
        rng.choice(extremes, n).tobytes(),
        bytes(POOL_NBYTES),
        b"\xff" * POOL_NBYTES,
        rng.integers(0, 4, n // 2).astype("<i8").tobytes(),
        rng.integers(-50, 300, n // 2).astype("<i8").tobytes(),
        rng.choice(ends, n).tobytes(),
    )
    return b"".join(pools)


def run(
    target: Target,
    seed: bytes,
    cases: Sequence[Case],
    code: Path | None = None,
    limit_ms: int = LIMIT_MS,
    timeout: float = 3600,
) -> Ended:
    """Run cases on a target; a crash of the process costs only the case that caused it.

    Args:
        target: the target.
        seed: the undamaged file.
        cases: the damaged files.
        code: folder with mpconnxr; None for the built package.
        limit_ms: milliseconds for a case.
        timeout: seconds for all.
    """
    files = {
        "mpconnxr": code or package.folder(),
        "case_format.py": SCRIPT.with_name("case_format.py"),
        "seed.bin": seed,
        "inputs": inputs(),
        "cases": b"".join(case.record(i) for i, case in enumerate(cases)),
    }
    options = {"heap": HEAP} if target.name.startswith("unix") else {}
    letters, faults, seed_fault = "", [], ""
    for _ in range(_ENDS):
        first, detail = len(letters), _has_no_processes(target)
        args = [str(x) for x in (first, limit_ms, int(detail))]
        try:
            completed = target.run(SCRIPT, files=files, args=args, timeout=timeout, **options)
            output, status, errors = completed.stdout, completed.returncode, completed.stderr
        except TargetTimeout as error:
            output, status, errors = error.stdout, "timeout", ""
        result = _Lines(output)
        letters += result.letters
        faults += result.faults
        seed_fault = result.seed_fault or seed_fault
        if status == 0:
            break
        if result.at is None:  # the process itself does not do
            faults.append(Fault(first, "process", f"{status} {errors[-300:]}"))
            break
        faults.append(_end_of(result, status, errors))
        letters = letters[: result.at].ljust(result.at, FAULT) + FAULT
    return Ended(letters, tuple(faults), seed_fault)


def _end_of(results, status, errors):
    """Return the fault that ended the process."""
    kind, what = "process", f"{status} {errors[-200:]}".strip()
    if status == STRAYED:
        kind, what = "stray", errors.strip().rpartition("\n")[2].removeprefix("stray ")
    return Fault(results.at, kind, what, results.where.get(results.at, ""))


def _has_no_processes(target):
    return not target.name.startswith("unix")


class _Lines:
    """The parsed output of on_target.py.

    Attributes:
        at: the case at which the process ended, None if it did not.
    """

    def __init__(self, output):
        self.letters, self.seed_fault, self.at = "", "", None
        self.where: dict[int, str] = {}
        results = []
        for line in output.splitlines():
            word, _, rest = line.partition(" ")
            number, _, rest = rest.partition(" ")
            if word == "done":
                self.letters += rest
                self.at = None
            elif word == "at":
                self.at = int(number)
            elif word == "find":
                kind, _, what = rest.partition(" ")
                results.append(Fault(int(number), kind, what))
            elif word == "where":
                self.where[int(number)] = rest
            elif word == "seed":
                self.seed_fault = f"{number} {rest}"
        # A fault is told before and after the run that tells where it was.
        by_number = {fault.number: fault for fault in reversed(results)}
        self.faults = [replace(f, where=self.where.get(n, "")) for n, f in by_number.items()]
