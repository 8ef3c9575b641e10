"""Run jobs in batches on a target: one process runs many, and a bad job affects only itself."""

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
_BYTES_A_PROCESS = 8 << 20  # limit for a board's ROMFS
# Bytes of heap for the package and its objects, on targets whose heap size can be set. A heap
# larger than the processor's cache makes a run four times as slow, since every float is an object.
_HEAP = 3 << 19


@dataclass(frozen=True)
class Job:
    """A model and the inputs to run it on.

    Attributes:
        model: bytes of a .bin.
        samples: for each sample the bytes of each input, in the graph's order.
        alone: it takes long and gets its own process.
        shapes: for each sample the shapes of its inputs, if the callers of the model determine
            them.
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
    """One inference.

    Attributes:
        outputs: bytes of the tensors.
        seconds: time of the run; None without a clock.
        shapes: shapes of the outputs in this run.
    """

    outputs: list[bytearray]
    seconds: float | None
    shapes: list[tuple[int, ...]]


@dataclass
class Outcome:
    """Result of a job.

    Attributes:
        runs: finished inferences.
        error: "" if all succeeded, else the exception's class name, "crash" or "timeout".
        message: message of the error.
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
    """Run jobs on a target.

    Args:
        target: the target that runs them.
        jobs: the jobs.
        timeout: seconds that a single job may take.
        workers: number of processes at a time.
        jobs_a_process: most jobs of a process.
        on_run: called after each inference, from another thread.
        on_job: called after each job, from another thread.
        kernels: {name: file} to add to mpconnxr/ops/.

    Returns:
        An outcome for each job.

    Raises:
        TargetError: if the target itself does not work.
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
    """Return mpconnxr/ as a target's files: the folder, or its files and the added kernels."""
    folder = package.folder()
    if not kernels:
        return {package.NAME: folder}
    files = {p.relative_to(folder.parent).as_posix(): p for p in folder.rglob("*.py")}
    return files | {f"mpconnxr/ops/{name}": path for name, path in kernels.items()}


def _run_batch(target, jobs, package, timeout, on_run, on_job):
    """Run jobs in one process after another: a job that ends its process needs a new one.

    Args:
        target: the target.
        jobs: the jobs.
        package: files of mpconnxr.
        timeout: seconds for each job.
        on_run: called after each run.
        on_job: called after each job.

    Returns:
        The outcomes of all jobs.
    """
    outcomes = []
    while len(outcomes) < len(jobs):
        for outcome in _run_process(target, jobs[len(outcomes) :], package, timeout, on_run):
            outcomes.append(outcome)
            on_job()
    return outcomes


def _run_process(target, jobs, package, timeout, on_run):
    """Run jobs in one process, which may end early; return the outcomes of at least one job.

    Args:
        target: the target.
        jobs: the jobs.
        package: files of mpconnxr.
        timeout: seconds for each job.
        on_run: called after each run.
    """
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
        if events.finished:  # repeat this job with the whole time for itself
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
    """Return the files that the runner reads from its folder: jobs, models and samples."""
    files = {"jobs.json": json.dumps([(len(j.samples), j.shapes) for j in jobs]).encode()}
    for i, job in enumerate(jobs):
        files[f"{i}.bin"] = job.model
        for k, sample in enumerate(job.samples):
            files.update({f"{i}_{k}_{n}": raw for n, raw in enumerate(sample)})
    return files


def _heap(target, jobs):
    """Return the bytes of heap for the largest job with its arena; None if the heap is fixed."""
    if not target.name.startswith("unix"):
        return None
    return _HEAP + max(3 * (job.nbytes + arena_bytes(job.model)) // 2 for job in jobs)


def outcomes_of(printed: str) -> list[Outcome]:
    """Parse the output of a runner that ran by itself."""
    events = _Events(lambda: None)
    for line in printed.splitlines():
        events.feed(line)
    return events.finished


class _Events:
    """Parser of the runner's output.

    Attributes:
        finished: outcomes of finished jobs.
        current: outcome of the running job.
    """

    def __init__(self, on_run):
        self.finished: list[Outcome] = []
        self.current: Outcome | None = None
        self._on_run = on_run
        self._missing: list[int] = []  # bytes of each output that have not come yet

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

    def _add(self, chunk):
        outputs = self.current.runs[-1].outputs
        i = next(i for i, n in enumerate(self._missing) if n)
        outputs[i] += chunk
        self._missing[i] -= len(chunk)
