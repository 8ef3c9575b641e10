"""`python -m tests.fuzz proofs`: prove the calls of damaged model files on the host.

No board and no target runs them: the calls that kernels emit are checked against the declarations
of the loops (see tools/program/bounds). Loops that call others declare nothing, but for those of
an FPU.
"""

from __future__ import annotations

import argparse
import signal
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tqdm import tqdm

from tools import arguments
from tools.program.bounds import proof
from tools.program.call import CannotRecord
from tools.program.record import record

from . import modelfile, mutate, seeds

_SECONDS = 30  # that the calls of a file may take
_SHOWN = 3  # finds of a kernel


class _TooLong(BaseException):
    """A time limit was exceeded.

    It is no Exception: exceptions of a kernel are refusals.
    """


@dataclass
class Proofs:
    """The result of a campaign.

    Attributes:
        files: number of damaged files.
        recorded: number of files whose kernels accepted them.
        calls: number of proved calls.
        finds: (file, its changes, description of the fault).
    """

    files: int = 0
    recorded: int = 0
    calls: int = 0
    finds: list[tuple[bytes, list[str], str]] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--cases", type=arguments.count, default=200_000, metavar="N")
    add("--seed", type=int, default=0, metavar="S", help="the same cases for the same seed")
    add("--kernel", default="", metavar="K", help="only files in which this kernel is used")
    add("--finds", type=Path, default=Path("build/fuzz"), metavar="FOLDER")


def run(args: argparse.Namespace) -> int:
    """Run the command; return 1 if a call is not proved, else 0."""
    files = {s.name: s for some in seeds.collection().values() for s in some}
    expected = [s for s in files.values() if not args.kernel or args.kernel in s.kernels]
    result = campaign([s.data for s in expected], args.cases, args.seed)
    for i, (data, changes, why) in enumerate(result.finds):
        args.finds.mkdir(parents=True, exist_ok=True)
        path = args.finds / f"proof-{args.seed}-{i}.bin"
        path.write_bytes(data)
        print(f"{path}: {why} ({', '.join(changes)})")
    print(
        f"fuzz: {result.files} files, kernels take {result.recorded} with {result.calls} calls, "
        f"{len(result.finds)} faults"
    )
    return 1 if result.finds else 0


def campaign(files: list[bytes], cases: int, seed: int) -> Proofs:
    """Prove the calls of `cases` damaged files, equally many of each undamaged file."""
    result, counts = Proofs(), Counter()
    each = -(-cases // len(files))
    for number, data in enumerate(tqdm(files, unit="seed", disable=None)):
        file, rng = modelfile.read(data), Random(f"{seed} {number}")
        for i in range(each):
            damaged, changes = mutate.mutated(file, rng)
            result.files += 1
            kernel, why = _fault(damaged, bool(i & 1), result)
            counts[kernel] += 1
            if why and counts[kernel] <= _SHOWN:
                result.finds.append((damaged, changes, why))
    return result


def _fault(data: bytes, has_fpu: bool, results: Proofs) -> tuple[str, str]:
    """Return (kernel, problem) of a file's first stray access or host error, or ("", "")."""

    def has_form(_: str, form: str) -> bool:
        return form == "plain" or has_fpu and form == "vfp"

    def stop(*_):
        raise _TooLong

    original = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_SECONDS)
    try:
        known = proof(record(data, has_form))
    except CannotRecord:
        return "", ""
    except _TooLong:
        return "too long", f"takes more than {_SECONDS} s"
    except Exception as e:
        return type(e).__name__, f"{type(e).__name__}: {e}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, original)
    results.recorded += 1
    results.calls += known.proved
    return (known.strays[0].kernel, str(known.strays[0])) if known.strays else ("", "")
