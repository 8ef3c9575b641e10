"""Jobs in batches onto a target: one process runs many, and a bad job costs only itself."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tools import package
from tools.format.reader import arena_bytes
from tools.micropython import Target, TargetError, TargetTimeout

RUNNER = Path(__file__).with_name("runner.py")

JOBS_A_PROCESS = 40
_BYTES_A_PROCESS = 8 << 20  # a board's ROMFS must hold them
# Bytes for the package and what it makes, on targets that let the heap be chosen: every float is
# an object, and a heap that outgrows the processor's cache makes a run four times as slow.
_HEAP = 3 << 19


@dataclass(frozen=True)
class Job:
    """model: bytes of a .bin; samples: each a list of the inputs' bytes, in the graph's order.

    alone: it takes long, and gets a process of its own; shapes: of a model whose callers decide
    the shape of an input, those of each sample's inputs.
    """

    model: bytes
    samples: Sequence[Sequence[bytes]]
    alone: bool = False
    shapes: Sequence[Sequence[Sequence[int]]] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of the model and of all samples."""
        return len(self.model) + sum(len(x) for sample in self.samples for x in sample)


@dataclass
class Run:
    """One inference. outputs: the tensors' bytes; seconds: None where there is no clock.

    shapes: those that the outputs had in this run.
    """

    outputs: list[bytearray]
    seconds: float | None
    shapes: list[tuple[int, ...]]


@dataclass
class Outcome:
    """What became of a job. runs: those that were finished.

    error: "" if all went well, else the exception's class name, "crash" or "timeout".
    """

    runs: list[Run] = field(default_factory=list)
    error: str = ""
    message: str = ""


def run_jobs(
    target: Target,
    jobs: Sequence[Job],
    timeout: float = 60,
    workers: int = 2,
    jobs_a_process: int = JOBS_A_PROCESS,
    on_run: Callable[[], None] = lambda: None,
    on_job: Callable[[], None] = lambda: None,
    kernels: Mapping[str, Path] | None = None,
) -> list[Outcome]:
    """An outcome for each job. Raises TargetError where the target itself does not work.

    timeout: seconds that no single job may exceed. on_run, on_job are called after each
    inference and each job (from another thread), for a progress bar. kernels: files that
    mpconnxr/ops/ has besides its own, by name.
    """
    target.build()
    package = _package(kernels or {})

    def work(batch):
        return _run_batch(target, batch, package, timeout, on_run, on_job)

    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(work, _batches(jobs, jobs_a_process)))
    return [outcome for part in parts for outcome in part]


def _batches(jobs, most):
    batch, nbytes = [], 0
    for job in jobs:
        full = len(batch) == most or nbytes + job.nbytes > _BYTES_A_PROCESS
        if batch and (full or job.alone or batch[0].alone):
            yield batch
            batch, nbytes = [], 0
        batch.append(job)
        nbytes += job.nbytes
    if batch:
        yield batch


def _package(kernels):
    """mpconnxr/ as a target's files: the folder, or all that is in it and more."""
    folder = package.folder()
    if not kernels:
        return {package.NAME: folder}
    files = {p.relative_to(folder.parent).as_posix(): p for p in folder.rglob("*.py")}
    return files | {f"mpconnxr/ops/{name}": path for name, path in kernels.items()}


def _run_batch(target, jobs, package, timeout, on_run, on_job):
    """Outcomes of all jobs: after a job that ended its process the next process goes on."""
    outcomes = []
    while len(outcomes) < len(jobs):
        for outcome in _run_process(target, jobs[len(outcomes) :], package, timeout, on_run):
            outcomes.append(outcome)
            on_job()
    return outcomes


def _run_process(target, jobs, package, timeout, on_run):
    """Outcomes of the first few of the jobs, at least one."""
    events = _Events(on_run)
    reason, message = "crash", ""
    try:
        done = target.run(
            RUNNER,
            files=package | files_of(jobs),
            timeout=timeout,
            on_line=events.feed,
            heap=_heap(target, jobs),
        )
        last = done.stderr.strip().splitlines()[-1:]
        message = f"status {done.returncode} {''.join(last)}".strip()
    except TargetTimeout:
        if events.finished:  # others took part of the time: this job gets all of it next
            return events.finished
        reason, message = "timeout", f"no end within {timeout:g} s"
    except TargetError as e:
        message = str(e)
    if len(events.finished) < len(jobs) and events.current:
        events.current.error, events.current.message = reason, message
        events.finished.append(events.current)
    if not events.finished:
        raise TargetError(f"{target.name}: jobs cannot be run: {message}")
    return events.finished


def files_of(jobs: Sequence[Job]) -> dict[str, bytes]:
    """What the runner wants to find beside it, and the package."""
    files = {"jobs.json": json.dumps([(len(j.samples), j.shapes) for j in jobs]).encode()}
    for i, job in enumerate(jobs):
        files[f"{i}.bin"] = job.model
        for k, sample in enumerate(job.samples):
            files.update({f"{i}_{k}_{n}": raw for n, raw in enumerate(sample)})
    return files


def _heap(target, jobs):
    """Bytes for the largest job with its arena; None where the heap is fixed."""
    if not target.name.startswith("unix"):
        return None
    return _HEAP + max(3 * (job.nbytes + arena_bytes(job.model)) // 2 for job in jobs)


def outcomes_of(printed: str) -> list[Outcome]:
    """Of a runner that was run by itself, from all that it printed."""
    events = _Events(lambda: None)
    for line in printed.splitlines():
        events.feed(line)
    return events.finished


class _Events:
    """Reads the runner's lines. finished: outcomes by job; current: that of a job under way."""

    def __init__(self, on_run):
        self.finished: list[Outcome] = []
        self.current: Outcome | None = None
        self._on_run = on_run
        self._missing: list[int] = []  # bytes of the outputs that are still to come

    def feed(self, line):
        if not line.startswith("{"):
            if self._missing:
                self._add(base64.b64decode(line))
            return
        event = json.loads(line)
        if "start" in event:
            self.current = Outcome()
        elif "outputs" in event:
            self.current.runs.append(
                Run(
                    [bytearray() for _ in event["outputs"]],
                    event["seconds"],
                    [tuple(shape) for shape in event["shapes"]],
                )
            )
            self._missing = event["outputs"]
            self._on_run()
        else:
            self.current.error, self.current.message = event["error"], event["message"]
            self.finished.append(self.current)
            self.current = None

    def _add(self, piece):
        outputs = self.current.runs[-1].outputs
        i = next(i for i, n in enumerate(self._missing) if n)
        outputs[i] += piece
        self._missing[i] -= len(piece)
