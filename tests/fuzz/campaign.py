"""Campaigns of many cases over all kernels, in parts that can be resumed and summed."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from random import Random

from . import batch, programs, seeds
from .batch import Case, Fault
from .case_format import FAULT, LETTERS

A_BATCH = 50, 400  # fewest and most cases in one process
A_CLASS = 3  # files kept of faults of one class

_RAN, _AT_LOAD, _IN_RUN, _BENEATH = LETTERS


@dataclass(frozen=True)
class Plan:
    """The settings of a campaign.

    Attributes:
        cases: number of cases in all parts together.
        kernel: the only kernel whose seeds are used, "" for all.
        programs: files become programs where they can.
    """

    target: str
    cases: int
    seed: int = 0
    kernel: str = ""
    parts: int = 1
    limit_ms: int = batch.LIMIT_MS
    programs: bool = False

    def part_cases(self, part: int) -> int:
        return self.cases // self.parts + (part < self.cases % self.parts)


@dataclass(frozen=True)
class Task:
    """One batch of one seed.

    Attributes:
        name: seed of everything random in the batch.
    """

    plan: Plan
    name: str
    kernel: str
    seed: seeds.Seed
    cases: int


@dataclass(frozen=True)
class Find:
    """A fault, its file, and the settings that reproduce it."""

    task: str
    target: str
    kernel: str
    case: Case
    fault: Fault

    @property
    def kind(self) -> str:
        """Return a text that is equal for all faults of one class."""
        phase, _, step = self.fault.where.partition(" ")
        text, _, frames = self.fault.what.partition(" | ")
        name = text.partition(":")[0] if self.fault.kind == "exception" else text
        if self.fault.kind == "stray":  # read of 4 bytes at 0x... by x.y + 0x...
            name = text.rpartition(" by ")[2].partition(" + ")[0]
        place = frames.partition(",")[0].rpartition("/")[2].rstrip('"')
        return " ".join(
            filter(None, (self.fault.kind, name, phase, step.rpartition(" ")[2], place))
        )

    def about(self) -> dict:
        return {
            "target": self.target,
            "class": self.kind,
            "batch": self.task,
            "seeds_of": self.kernel,
            "fault": asdict(self.fault),
            "case": self.case.settings(),
        }


@dataclass
class Result:
    """Counts of cases by kernel and end, and of faults by class.

    Attributes:
        found: examples of faults of each class.
    """

    counts: dict[str, Counter] = field(default_factory=dict)
    classes: Counter = field(default_factory=Counter)
    finds: list[Find] = field(default_factory=list)
    seed_faults: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, task: Task, cases: Sequence[Case], ended: batch.Ended) -> None:
        counts = self.counts.setdefault(task.kernel, Counter())
        counts.update(ended.letters)
        if ended.seed_fault:
            self.seed_faults[task.seed.name] = ended.seed_fault
        for fault in ended.faults:
            case = cases[min(fault.number, len(cases) - 1)]
            result = Find(task.name, task.plan.target, task.kernel, case, fault)
            self.classes[result.kind] += 1
            if self.classes[result.kind] <= A_CLASS:
                self.finds.append(result)

    def as_json(self) -> dict:
        return {
            "kernels": {kernel: named(c) for kernel, c in sorted(self.counts.items())},
            "classes": dict(self.classes.most_common()),
            "seed_faults": self.seed_faults,
            "seconds": round(self.seconds, 1),
        }


def named(counts: Counter) -> dict[str, int]:
    """Return counts by letter as counts by name."""
    return {
        "cases": sum(counts.values()),
        "ran": counts[_RAN],
        "refused_at_load": counts[_AT_LOAD],
        "refused_in_run": counts[_IN_RUN] + counts[_BENEATH],
        "by_an_exception_beneath": counts[_BENEATH],
        "faults": counts[FAULT],
    }


def tasks_of(plan: Plan, part: int, collection: dict[str, list[seeds.Seed]]) -> Iterator[Task]:
    """Yield the batches of a part: all kernels in turn."""
    rng = Random(f"{plan.seed} {part}")
    kernels = [plan.kernel] if plan.kernel else rng.sample(sorted(collection), len(collection))
    left, number = plan.part_cases(part), 0
    size = min(max(left // len(kernels), A_BATCH[0]), A_BATCH[1])
    while left > 0:
        kernel = kernels[number % len(kernels)]
        name = f"{plan.seed}-{part}-{number}"
        seed = Random(name).choice(collection[kernel])
        yield Task(plan, name, kernel, seed, min(size, left))
        left -= size
        number += 1


def run_task(task: Task) -> tuple[list[Case], batch.Ended]:
    cases = batch.make_cases(task.seed.data, task.cases, Random(f"cases {task.name}"))
    target = batch.target_of(task.plan.target)
    limit = task.plan.limit_ms
    if not task.plan.programs:
        return cases, batch.run(target, task.seed.data, cases, limit_ms=limit)
    with tempfile.TemporaryDirectory(prefix="mpconnxr-fuzz-") as folder:
        package, rng = Path(folder, "mpconnxr"), Random(f"programs {task.name}")
        cases, faults = programs.deployed(cases, target, package, rng)
        ended = batch.run(target, task.seed.data, cases, package, limit)
    return cases, replace(ended, faults=(*ended.faults, *faults))


def run_part(
    plan: Plan,
    part: int,
    collection: dict[str, list[seeds.Seed]],
    workers: int = 2,
    on_batch: Callable[[int, Result], None] = lambda n, result: None,
) -> Result:
    """Run all cases of a part.

    Args:
        plan: the campaign.
        part: number of the part.
        collection: seeds by kernel.
        workers: number of processes.
        on_batch: called after each batch with its number of cases and the result so far.
    """
    batch.target_of(plan.target).build()
    result, start = Result(), time.monotonic()
    tasks = list(tasks_of(plan, part, collection))
    with ProcessPoolExecutor(workers) as pool:
        for task, (cases, ended) in zip(tasks, pool.map(run_task, tasks), strict=True):
            result.add(task, cases, ended)
            result.seconds = time.monotonic() - start
            on_batch(task.cases, result)
    return result


# ---- files


def save_finds(results: Iterable[Find], folder: Path) -> list[Path]:
    """Write each fault's file, and its JSON description to the same folder; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for f in results:
        path = folder / f"{f.kernel}-{f.fault.kind}-{f.target}-{f.task}-{f.fault.number}.bin"
        path.write_bytes(f.case.data)
        path.with_suffix(".json").write_text(json.dumps(f.about(), indent=1) + "\n")
        paths.append(path)
    return paths


def part_path(folder: Path, plan: Plan, part: int) -> Path:
    kernel = f"-{plan.kernel}" if plan.kernel else ""
    kernel += "-programs" if plan.programs else ""
    return folder / f"{plan.target}{kernel}-{plan.seed}-{plan.cases}-{part}of{plan.parts}.json"


def summed(results: Iterable[dict]) -> dict:
    """Return the results of several parts as one."""
    kernels: dict[str, Counter] = {}
    classes, seed_faults, seconds = Counter(), {}, 0.0
    for result in results:
        for kernel, counts in result["kernels"].items():
            kernels.setdefault(kernel, Counter()).update(counts)
        classes.update(result["classes"])
        seed_faults |= result["seed_faults"]
        seconds += result["seconds"]
    total = sum(kernels.values(), Counter())
    return {
        "total": {name: total[name] for name in named(Counter())},
        "kernels": {kernel: dict(counts) for kernel, counts in sorted(kernels.items())},
        "classes": dict(classes.most_common()),
        "seed_faults": seed_faults,
        "seconds": round(seconds, 1),
    }
