"""`python -m tests.fuzz model`: damaged model files, loaded and run on targets."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from random import Random

from tqdm import tqdm

from tools import arguments
from tools.micropython import target_name

from . import batch, campaign, seeds
from .batch import Case
from .campaign import Plan
from .case_format import AT_LEFT, FORMS, IN_MEMORY, STREAM, VERIFY

_TRIES = 60  # of a file of which nothing else is known


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--cases", type=arguments.count, default=2000, metavar="N", help="on each target")
    add("--seed", type=int, default=0, metavar="S", help="the same cases for the same seed")
    add(
        "--target",
        action="append",
        type=target_name,
        metavar="T",
        help="may be given several times; default: unix-guard",
    )
    add("--kernel", default="", metavar="K", help="only files in which this kernel is used")
    add("--programs", action="store_true", help="as programs, where a file can be one")
    add(
        "--parts",
        type=arguments.count,
        default=1,
        metavar="P",
        help="a file of results for each part",
    )
    add("--results", type=Path, metavar="FOLDER", help="where those go")
    add("--resume", action="store_true", help="leave out parts whose results are there")
    add("--finds", type=Path, default=Path("build/fuzz"), metavar="FOLDER", help="of faults")
    add("--json", action="store_true", help="print the counts by kernel as one JSON object")
    add("--workers", type=arguments.count, default=2, metavar="N", help="processes")
    add("--limit", type=int, default=batch.LIMIT_MS, metavar="MS", help="processor time a case")
    add("--renew-seeds", action="store_true", help="make the undamaged files again")
    add("--replay", type=Path, metavar="FILE", help="repeat a fault that was saved, or try a file")


def run(args: argparse.Namespace) -> int:
    """Run the command; return 1 if there was a fault, else 0."""
    targets = args.target or ["unix-guard"]
    if args.replay:
        return replay(args.replay, args.target, args.limit)
    collection = seeds.collection(args.renew_seeds)
    if args.kernel and args.kernel not in collection:
        print(f"fuzz: no seed has the kernel {args.kernel}", file=sys.stderr)
        return 2
    results = []
    for target in targets:
        numbers = args.cases, args.seed
        plan = Plan(target, *numbers, args.kernel, args.parts, args.limit, args.programs)
        results += [_part(plan, part, collection, args) for part in range(plan.parts)]
    total = campaign.summed(results)
    show(total, args.json)
    return 1 if total["classes"] or total["seed_faults"] else 0


def _part(plan, part, collection, args):
    """Run a part of a campaign; return its result as a dict for JSON.

    Args:
        plan: the campaign.
        part: number of the part.
        collection: seeds by kernel.
        args: options; with --resume a saved result is returned.
    """
    path = campaign.part_path(args.results, plan, part) if args.results else None
    if path and args.resume and path.is_file():
        return json.loads(path.read_text())
    about = f"{plan.target} {part + 1}/{plan.parts}"
    with tqdm(total=plan.part_cases(part), desc=about, unit="case", disable=None) as bar:

        def on_batch(n, result):
            bar.update(n)
            bar.set_postfix(faults=sum(result.classes.values()))

        result = campaign.run_part(plan, part, collection, args.workers, on_batch)
    for saved in campaign.save_finds(result.finds, args.finds):
        print(f"fuzz: fault in {saved}")
    parsed = result.as_json()
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".new")
        unfinished.write_text(json.dumps(parsed, indent=1) + "\n")
        unfinished.rename(path)
    return parsed


def show(total: dict, as_json: bool = False) -> None:
    """Print the result in words, or as one JSON object."""
    if as_json:
        print(json.dumps(total))
        return
    counts = total["total"]
    n = max(counts["cases"], 1)
    print(
        f"fuzz: {counts['cases']} cases of {len(total['kernels'])} kernels in"
        f" {total['seconds']:.0f} s: {100 * counts['ran'] / n:.0f} % ran,"
        f" {100 * counts['refused_in_run'] / n:.0f} % were refused in a run"
        f" ({counts['by_an_exception_beneath']} by an IndexError or the like),"
        f" {100 * counts['refused_at_load'] / n:.0f} % at load, {counts['faults']} faults"
    )
    for kind, n in total["classes"].items():
        print(f"  {n:6} {kind}")
    for name, text in total["seed_faults"].items():
        print(f"  the seed {name} itself: {text}")


def replay(path: Path, targets: list[str] | None, limit_ms: int) -> int:
    """Repeat a saved fault on its target or the listed ones; run other files in many modes."""
    beside = path.with_suffix(".json")
    if beside.is_file():
        about = json.loads(beside.read_text())
        cases = [Case(path.read_bytes(), **about["case"])]
        targets = targets or [about["target"]]
        print("\n".join(about["case"]["changes"]))
    else:
        cases = list(_tries(path.read_bytes()))
    faults = 0
    for target in targets or ["unix-guard"]:
        ended = batch.run(batch.target_of(target), b"", cases, limit_ms=limit_ms)
        print(f"{target}: {ended.letters}")
        for fault in ended.faults:
            print(f"  {fault.kind} {fault.what}; {fault.where}")
        faults += len(ended.faults)
    return 1 if faults else 0


def _tries(data):
    rng = Random(0)
    for i in range(_TRIES):
        options = (IN_MEMORY, STREAM, 0)[i % 3] | VERIFY | (AT_LEFT if i % 4 == 3 else 0)
        yield Case(data, (), options, i % FORMS, 3, rng.getrandbits(32))
