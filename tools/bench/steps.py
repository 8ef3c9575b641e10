"""python -m tools.bench.steps [MODEL.onnx ...] [--target T]: what steps cost.

Writes tools/converter/report/costs.json, from which the converter's report estimates a model's
time on a board: the instructions of a step as a sum of what a call, a multiply-accumulate and an
element of input or output take. Without models: those of the collection that are small enough.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

from tools.converter.convert import Converted, Options, convert
from tools.converter.report.costs import COSTS, Work, kind_of, work_of
from tools.errors import ConvertError
from tools.micropython import TargetError, get_target

from .fit import fitted
from .measure import collection, input_files, printed, script_files

_MOST_MACS = 4_000_000  # of a model that is measured unless others are named
# Most boards that are counted on virt-rv32 have no inline assembler.
_PREFER = {"virt-rv32": ("viper",)}
TARGETS = ("mps2-an385-v6m", "mps2-an386", "virt-rv32", "sim-de212")  # that boards are counted on


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 measured, 1 some model could not be."""
    parser = argparse.ArgumentParser("python -m tools.bench.steps")
    parser.add_argument("models", nargs="*", type=Path, metavar="MODEL.onnx")
    parser.add_argument("--target", action="append", choices=TARGETS)
    args = parser.parse_args(argv)
    found = json.loads(COSTS.read_text()) if COSTS.exists() else {}
    status = 0
    samples = defaultdict(list)
    for path in args.models or sorted(collection().glob("*/model.onnx")):
        try:
            converted = convert(path, Options(strip=True))
            if not args.models and converted.report()["macs"] > _MOST_MACS:
                continue
            for target in args.target or TARGETS:
                samples[target] += measure(converted, target)
        except (ConvertError, TargetError) as e:
            print(f"steps: {path}: {e}", file=sys.stderr)
            # models of the collection that need more than their path are left out
            if args.models or isinstance(e, TargetError):
                status = 1
    for target, steps in samples.items():
        found[target] = {kind: fitted(of) for kind, of in _by_kind(steps).items()}
    COSTS.write_text(_lines(found))
    return status


def measure(converted: Converted, target_name: str) -> list[tuple[str, Work, int]]:
    """(kind, work, instructions) of each step without bodies in a run there on random inputs.

    Raises TargetError.
    """
    target = get_target(target_name)
    _, per_instruction = getattr(target, "counter", (0, 1.0))
    script = script_files(target, "on_device_steps.py", PREFER=_PREFER.get(target_name, ()))
    files = input_files(converted) | script
    found = printed(target, files, icount=hasattr(target, "counter"))
    return [
        (kind_of(step), work_of(step), round(ticks / per_instruction))
        for i, ticks in found
        if not (step := converted.graph.steps[i]).bodies
    ]


def _by_kind(steps):
    kinds = defaultdict(list)
    for kind, *rest in steps:
        kinds[kind].append(rest)
    return kinds


def _lines(found):
    """JSON with a line for each kind of step."""
    parts = []
    for target, kinds in sorted(found.items()):
        lines = ",\n".join(f'  "{k}": {json.dumps(v)}' for k, v in sorted(kinds.items()))
        parts.append(f'"{target}": {{\n{lines}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    sys.exit(main())
