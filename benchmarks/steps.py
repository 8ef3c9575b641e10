"""python -m benchmarks.steps [MODEL.onnx ...] [--target T]: measure what steps cost.

Writes tools/converter/report/costs.json, from which the converter estimates a model's time on a
board: a step's instructions as a sum of terms per call, multiply-accumulate and element. Kinds of
steps that no measured model has keep their entries in the file.

Without models it measures those of the collection that are small enough, and then a few of them
once more with --float python, but only for kinds of steps that the first pass did not have.
`--float python` alone runs the second pass and adds kinds that the file does not have.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

from tools.bench.measure import collection, input_files, printed, script_files
from tools.converter.convert import Converted, Options, convert
from tools.converter.report.costs import COSTS, Work, kind_of, work_of
from tools.errors import ConvertError
from tools.micropython import TargetError, get_target

from .fit import fitted

_SCRIPT = Path(__file__).parent / "on_device_steps.py"
_MOST_MACS = 4_000_000  # larger models of the collection are not measured by default
# Models of the collection that are also measured with products in Python's floats.
_IN_FLOATS = (
    "digits_cnn_f32",
    "har_cnn1d_f32",
    "mnist_8",
    "onnx2c_mnist_mlp_bn",
    "skl_mlp_digits",
    "tinymaix_mnist_f32",
    "tract_keras_mlp",
)
# Targets that the files of boards refer to.
TARGETS = ("mps2-an385-v6m", "mps2-an386", "virt-rv32", "sim-de212", "sim-lx106")


def main(argv: list[str] | None = None) -> int:
    """Run the command. Exit status: 0 all measured, 1 some models failed."""
    parser = argparse.ArgumentParser("python -m benchmarks.steps")
    parser.add_argument("models", nargs="*", type=Path, metavar="MODEL.onnx")
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--float", choices=("exact", "python"), help="default: both")
    args = parser.parse_args(argv)
    costs = json.loads(COSTS.read_text()) if COSTS.exists() else {}
    status, measured = 0, {}
    for mode in [args.float] if args.float else ["exact", "python"]:
        measured[mode], failed = _measured(args, mode)
        status |= failed
    for target in args.target or TARGETS:
        before = costs.get(target, {})
        in_floats, exact = (measured.get(m, {}).get(target, {}) for m in ("python", "exact"))
        alone = args.float == "python"
        costs[target] = in_floats | before if alone else before | in_floats | exact
    COSTS.write_text(_lines(costs))
    return status


def _measured(args, mode):
    """Return ({target: {kind: cost}}, True if a model could not be measured)."""
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
            # a model of the collection may need options: skip it
            failed |= bool(args.models or isinstance(e, TargetError))
    return {
        target: {kind: fitted(of) for kind, of in _by_kind(steps).items()}
        for target, steps in samples.items()
    }, failed


def _collected(mode):
    paths = sorted(collection().glob("*/model.onnx"))
    return [p for p in paths if mode == "exact" or p.parent.name in _IN_FLOATS]


def measure(converted: Converted, target_name: str) -> list[tuple[str, Work, int]]:
    """Run the model on random inputs and return (kind, work, instructions) of its steps.

    Steps with bodies (loops, branches) are omitted.

    Raises:
        TargetError: if the run fails.
    """
    target = get_target(target_name)
    _, per_instruction = getattr(target, "counter", (0, 1.0))
    script = script_files(target, _SCRIPT)
    files = input_files(converted) | script
    step_ticks = printed(target, files, icount=hasattr(target, "counter"))
    return [
        (kind_of(step), work_of(step), round(ticks / per_instruction))
        for i, ticks in step_ticks
        if not (step := converted.graph.steps[i]).bodies
    ]


def _by_kind(steps):
    kinds = defaultdict(list)
    for kind, *rest in steps:
        kinds[kind].append(rest)
    return kinds


def _lines(costs):
    """Format the costs as JSON with one line for each kind of step."""
    parts = []
    for target, kinds in sorted(costs.items()):
        lines = ",\n".join(f'  "{k}": {json.dumps(v)}' for k, v in sorted(kinds.items()))
        parts.append(f'"{target}": {{\n{lines}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    sys.exit(main())
