"""`python -m tests.fuzz onnx`: convert damaged .onnx files.

A case is one of the seed models with one to four changes, of the file's bytes or of its graph. It
passes if the converter refuses it with one report, or writes a file that can be read again. Finds
are tracebacks, errors that no command expects, crashes, and exceeded limits; they are saved with
their changes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tools import arguments, limits
from tools.converter.__main__ import main as convert
from tools.errors import ConvertError
from tools.format import reader

from .onnx_changes import changed

ROOT = Path(__file__).parents[2]
_MOST_NBYTES = 200_000  # of a seed: small ones are fuzzed faster
_MOST_SECONDS = 30.0  # of computing
_MOST_MEMORY = 2 << 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--cases", type=arguments.count, default=1000, metavar="N", help="how many (1000)")
    add("--seed", type=int, default=0, metavar="S", help="the first case's number (0)")
    add("--finds", type=Path, default=Path("build/fuzz/onnx"), metavar="FOLDER", help="for finds")
    add("--models", type=Path, metavar="FOLDER", help="seeds: its .onnx (those of the examples)")
    add("--json", action="store_true", help="print one JSON object: how often each outcome was")
    add("--replay", type=Path, metavar="FILE.onnx", help="convert this one as a case")


def run(args: argparse.Namespace) -> int:
    """Run the command; return 0 if nothing was found, else 1."""
    if args.replay:
        kind, message = outcome(args.replay.read_bytes())
        print(f"{kind}\n{message}".rstrip())
        return int(kind in FINDS)
    seeds = _seeds(args.models or ROOT / "examples")
    counts: Counter[str] = Counter()
    for number in range(args.seed, args.seed + args.cases):
        data, changes = case(seeds, number)
        kind, message = outcome(data)
        counts[kind] += 1
        if kind in FINDS:
            path = _save(args.finds, number, data, [kind, *changes, message])
            print(f"{kind}: {path}", file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps(counts))
    else:
        print(", ".join(f"{n} {kind}" for kind, n in counts.most_common()))
    return int(any(counts[kind] for kind in FINDS))


FINDS = ("unexpected", "traceback", "crash", "limits", "unreadable")


def _seeds(folder: Path) -> list[tuple[str, bytes]]:
    files = [p for p in sorted(folder.rglob("*.onnx")) if p.stat().st_size <= _MOST_NBYTES]
    if not files:
        raise OSError(f"{folder} has no .onnx of up to {_MOST_NBYTES:,} bytes")
    return [(path.name, path.read_bytes()) for path in files]


def case(seeds: list[tuple[str, bytes]], number: int) -> tuple[bytes, list[str]]:
    """Return the damaged file with this number, with its seed and changes."""
    rng = random.Random(number)
    name, data = rng.choice(seeds)
    data, changes = changed(data, rng)
    return data, [f"seed {name}", *changes]


def outcome(data: bytes) -> tuple[str, str]:
    """Convert a file; return one word for how that ended, and all that was printed."""
    with tempfile.TemporaryDirectory() as folder:
        model, output, log = (Path(folder, name) for name in ("m.onnx", "m.bin", "log"))
        model.write_bytes(data)
        end = limits.watch(lambda: _quietly(model, output, log), "converter")
        message = log.read_text(errors="replace") + end.report
        return _judged(end, message, output), message


def _quietly(model, output, log):
    with log.open("wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    sys.stdout = os.fdopen(os.dup(1), "w", errors="backslashreplace")
    sys.stderr = os.fdopen(os.dup(2), "w", 1, errors="backslashreplace")
    return convert([str(model), str(output)])


def _judged(end, message, output):
    if "Traceback" in message:
        return "traceback"
    if "unexpected" in message:
        return "unexpected"
    if "a library crashed" in message:
        return "crash"
    if end.peak > _MOST_MEMORY or end.seconds > _MOST_SECONDS:
        return "limits"
    if end.code:
        return "refused" if message.strip() else "unexpected"
    try:
        reader.read(output.read_bytes())
    except (ConvertError, OSError):
        return "unreadable"
    return "converted"


def _save(folder, number, data, notes):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"case_{number}.onnx"
    path.write_bytes(data)
    path.with_suffix(".txt").write_text("\n".join(notes) + "\n")
    return path
