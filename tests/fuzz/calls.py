"""`python -m tests.fuzz calls`: calls of the API in random order, with random arguments."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from tqdm import tqdm

from tools import arguments, package
from tools.micropython import Target, TargetTimeout, get_target, target_name

from . import calls_models
from .seeds import SeedError

SCRIPT = Path(__file__).with_name("calls_on_target.py")
A_BATCH = 20  # sequences in a process
CALLS = 25  # in a sequence
_HEAP = 4 << 20  # bytes
_TIMEOUT = 60  # s for a batch


@dataclass(frozen=True)
class Find:
    """A call sequence that revealed a fault.

    Attributes:
        kind: signal, timeout, exception or broken.
        what: description in words.
    """

    target: str
    seed: int
    sequence: int
    calls: int
    kind: str
    what: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--cases",
        type=arguments.count,
        default=200,
        metavar="N",
        help=f"sequences of {CALLS} calls a target",
    )
    add("--seed", type=int, default=0, metavar="S", help="the same calls for the same seed")
    add("--target", action="append", type=target_name, metavar="T", help="default: unix-guard")
    add("--finds", type=Path, default=Path("build/fuzz"), metavar="FOLDER")
    add("--json", action="store_true", help="print the finds as one JSON array")
    add("--replay", type=Path, metavar="FILE", help="repeat one that was saved, with its calls")


def run(args: argparse.Namespace) -> int:
    """Run the command; return 1 if any sequence revealed a fault, else 0."""
    if args.replay:
        return replay(_saved(args.replay), args.target)
    finds = []
    for target in args.target or ["unix-guard"]:
        finds += campaign(get_target(target), args.cases, args.seed)
    for find in finds:
        args.finds.mkdir(parents=True, exist_ok=True)
        path = args.finds / f"calls-{find.target}-{find.seed}-{find.sequence}.json"
        path.write_text(json.dumps(asdict(find), indent=1) + "\n")
        if not args.json:
            print(f"fuzz: {find.kind} {find.what}; {path}")
    if args.json:
        print(json.dumps([asdict(find) for find in finds]))
        return int(bool(finds))
    n = args.cases * len(args.target or [0])
    print(f"fuzz: {n} sequences of {CALLS} calls: {len(finds)} finds")
    return 1 if finds else 0


def _saved(path):
    try:
        return Find(**json.loads(path.read_text()))
    except (TypeError, ValueError):
        raise SeedError(f"{path} is not a saved find of `fuzz calls`") from None


def campaign(target: Target, n: int, seed: int, code: Path | None = None) -> list[Find]:
    """Run n call sequences and return the finds.

    A crash of the process costs only its own sequence.

    Args:
        target: the target.
        n: number of sequences.
        seed: number that decides the calls.
        code: folder with mpconnxr; None for the built package.
    """
    files = {"mpconnxr": code or package.folder(), **calls_models.files()}
    finds, first = [], 0
    with tqdm(total=n, desc=f"{target.name} calls", unit="sequence", disable=None) as bar:
        while first < n:
            result, end = _batch(target, files, seed, first, min(A_BATCH, n - first))
            finds += result
            bar.update(end - first)
            first = end
    return finds


def _batch(target, files, seed, first, count):
    """Run sequences in one process; return (finds, number of the first sequence that was not run).

    Args:
        target: the target.
        files: files for its folder.
        seed: number that decides the calls.
        first: number of the first sequence.
        count: number of sequences.
    """
    output, status = _run(target, files, seed, first, count, verbose=0)
    finds, at = [], first
    for line in output.splitlines():
        word, _, rest = line.partition(" ")
        number, _, rest = rest.partition(" ")
        if word == "at":
            at = int(number)
        elif word == "find":
            kind, _, what = rest.partition(" ")
            finds.append(Find(target.name, seed, int(number), CALLS, kind, what))
    if status == "0":
        return finds, first + count
    kind = "timeout" if status == "timeout" else "signal"
    finds.append(Find(target.name, seed, at, CALLS, kind, status))
    return finds, at + 1


def _run(target, files, seed, first, count, verbose, calls=CALLS):
    args = [str(n) for n in (first, count, seed, calls, verbose)]
    try:
        completed = target.run(SCRIPT, files=files, args=args, timeout=_TIMEOUT, heap=_HEAP)
    except TargetTimeout as error:
        return error.stdout, "timeout"
    if completed.returncode:
        return completed.stdout, f"{completed.returncode} {completed.stderr[-300:]}"
    return completed.stdout, "0"


def replay(find: Find, targets: list[str] | None) -> int:
    """Repeat a find on its target, or on the listed ones, and print its calls."""
    files = {"mpconnxr": package.folder(), **calls_models.files()}
    status = "0"
    for name in targets or [find.target]:
        output, status = _run(
            get_target(name), files, find.seed, find.sequence, 1, 1, calls=find.calls
        )
        print(output, status)
    return 0 if status == "0" and "\nfind " not in output else 1
