"""python -m tools.bench.steps [MODEL.onnx ...] [--target T]: what steps cost.

Writes tools/converter/report/costs.json, from which the converter's report estimates a model's
time on a board: the instructions of a step as a sum of what a call, a multiply-accumulate and an
element of input or output take. Kinds of steps that no model has stay in the file as they are.
Without models: those of the collection that are small enough, and then some of them with products
in Python's floats, of which the kinds of steps count that the others do not have. --float python
measures these alone, and adds such kinds to the file.
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
# Of the collection, measured with products in Python's floats, too.
_IN_FLOATS = (
    "digits_cnn_f32",
    "har_cnn1d_f32",
    "mnist_8",
    "onnx2c_mnist_mlp_bn",
    "skl_mlp_digits",
    "tinymaix_mnist_f32",
    "tract_keras_mlp",
)
# That boards are counted on.
TARGETS = ("mps2-an385-v6m", "mps2-an386", "virt-rv32", "sim-de212", "sim-lx106")


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 measured, 1 some model could not be."""
    parser = argparse.ArgumentParser("python -m tools.bench.steps")
    parser.add_argument("models", nargs="*", type=Path, metavar="MODEL.onnx")
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--float", choices=("exact", "python"), help="default: both")
    args = parser.parse_args(argv)
    found = json.loads(COSTS.read_text()) if COSTS.exists() else {}
    status, measured = 0, {}
    for mode in [args.float] if args.float else ["exact", "python"]:
        measured[mode], failed = _measured(args, mode)
        status |= failed
    for target in args.target or TARGETS:
        before = found.get(target, {})
        in_floats, exact = (measured.get(m, {}).get(target, {}) for m in ("python", "exact"))
        alone = args.float == "python"
        found[target] = in_floats | before if alone else before | in_floats | exact
    COSTS.write_text(_lines(found))
    return status


def _measured(args, mode):
    """Costs by kind, by target, and whether some model could not be measured."""
    samples, failed = defaultdict(list), False
    for path in args.models or _collected(mode):
        try:
            converted = convert(path, Options(strip=True, float=mode))
            if not args.models and converted.report()["macs"] > _MOST_MACS:
                continue
            for target in args.target or TARGETS:
                samples[target] += measure(converted, target)
        except (ConvertError, TargetError) as e:
            print(f"steps: {path}: {e}", file=sys.stderr)
            # models of the collection that need more than their path are left out
            failed |= bool(args.models or isinstance(e, TargetError))
    return {
        target: {kind: fitted(of) for kind, of in _by_kind(steps).items()}
        for target, steps in samples.items()
    }, failed


def _collected(mode):
    paths = sorted(collection().glob("*/model.onnx"))
    return [p for p in paths if mode == "exact" or p.parent.name in _IN_FLOATS]


def measure(converted: Converted, target_name: str) -> list[tuple[str, Work, int]]:
    """(kind, work, instructions) of each step without bodies in a run there on random inputs.

    Raises TargetError.
    """
    target = get_target(target_name)
    _, per_instruction = getattr(target, "counter", (0, 1.0))
    script = script_files(target, "on_device_steps.py")
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
