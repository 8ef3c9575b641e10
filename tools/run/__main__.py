"""python -m tools.run MODEL X.npy...: run a .bin or an .onnx on a MicroPython target."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from tools import arguments, limits
from tools.converter.__main__ import add_options, options_from
from tools.deploy.errors import DeployError
from tools.errors import ConvertError, RunError, UsageError, text_of
from tools.micropython import TargetError, TargetTimeout, is_target, target_names

_RUNS = 20  # default of --runs
_ITSELF = Path()  # --compare without a model


def limited(argv: list[str] | None = None) -> int:
    """Call `main` in a process whose memory and time are limited, for untrusted models."""
    _arguments(sys.argv[1:] if argv is None else argv)  # --help and wrong usage end here
    from . import execute, profile, show, trace  # noqa: F401 (shared with the process: no --memory)

    return limits.run(lambda: main(argv), "run")


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0 if done, 1 if the model is refused or fails, 2 for wrong usage."""
    args = _arguments(sys.argv[1:] if argv is None else argv)
    limits.apply(args.options)
    try:
        options = options_from(args.options)
        options.ops = args.ops or options.ops
        report = _work(args)(args, options, _notify)
    except (ConvertError, RunError, TargetError, DeployError, OSError) as e:
        text = text_of(e)
        if isinstance(e, TargetTimeout):
            text += ": --timeout SECONDS allows more"
        _notify(text)
        if args.json:
            print(json.dumps({"error": text}))
        return 2 if isinstance(e, UsageError) else 1
    from .show import print_profile, print_report, print_trace, to_json

    if args.json:
        print(to_json(report))
    elif args.trace is not None:
        print_trace(report, args)
    else:
        (print_profile if args.profile else print_report)(report)
    return int(not report.get("verified", {}).get("ok", True))


def _work(args):
    """Return the function that makes the report."""
    if args.trace is not None:
        from .trace import trace as work
    elif args.profile:
        from .profile import profile as work
    else:
        from .execute import execute as work
    return work


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments before `--`."""
    cli = arguments.parser_for(
        "run",
        description="Run a model on a MicroPython target.",
        epilog="Options of the converter follow after --.",
        example="mpconnxr run model.onnx --random 10 --compare -- --quantize dynamic",
        page="run",
    )
    add = cli.add_argument
    add("model", type=Path, help=".bin, or .onnx that is converted first")
    add(
        "inputs",
        nargs="*",
        type=Path,
        metavar="X.npy",
        help="the graph's inputs, in order; strings are .npy too, a map is an object in .json; "
        "without any, a .bin runs its test vector",
    )
    add(
        "--samples",
        type=Path,
        metavar="DIR",
        help="run each input_K.npy, input_K_1.npy, ... of a folder",
    )
    add(
        "--target",
        default="unix",
        metavar="TARGET",
        help=f"{', '.join(target_names())}, or a board's port, with --profile or --trace",
    )
    add("--output-dir", type=Path, metavar="DIR", help="write output_K.npy, output_K_1.npy, ...")
    add("--random", type=int, metavar="N", help="run N samples of random numbers")
    add("--seed", type=int, default=0, metavar="S", help="seed of --random (0)")
    add(
        "--compare",
        type=Path,
        nargs="?",
        const=_ITSELF,
        metavar="MODEL.onnx",
        help="print errors against onnxruntime running this model (default: MODEL)",
    )
    add(
        "--expect",
        nargs="+",
        type=Path,
        metavar="Y.npy",
        help="print errors against these expected outputs instead of onnxruntime's",
    )
    add("--layers", action="store_true", help="with --compare: also compare inner values")
    add(
        "--profile",
        action="store_true",
        help="print the time of each step and of whole runs; without X.npy for random inputs",
    )
    add("--runs", type=int, metavar="N", help=f"number of runs with --profile ({_RUNS})")
    add(
        "--trace",
        type=int,
        choices=range(4),
        metavar="LEVEL",
        help="trace one run: 1 each step with its time, 2 also the range of its outputs, 3 the "
        "first elements; with --compare where it first deviates from onnxruntime",
    )
    add("--dump", type=Path, metavar="DIR", help="with --trace: write each tensor as STEP_K.npy")
    add(
        "--ops",
        type=Path,
        metavar="FOLDER",
        help="folder of your own operators with their kernels",
    )
    add(
        "--timeout",
        type=arguments.seconds,
        default=600,
        metavar="SECONDS",
        help="limit for one inference (600)",
    )
    add("--json", action="store_true", help="print one JSON object")
    return cli


def _arguments(argv):
    """Parse and check the arguments; those after `--` become `.options`."""
    at = argv.index("--") if "--" in argv else len(argv)
    args = (cli := parser()).parse_args(argv[:at])
    if sum(map(bool, (args.samples, args.inputs, args.random))) > 1:
        cli.error("give only one of X.npy, --samples and --random")
    if args.random is not None and args.random < 1:
        cli.error("--random N: N is at least 1")
    if args.compare == _ITSELF:
        args.compare = args.model
    if args.expect and (not args.inputs or args.layers or args.trace is not None):
        cli.error("--expect goes with X.npy, without --layers and --trace")
    if args.layers and not args.compare:
        cli.error("--layers needs --compare MODEL.onnx")
    if args.runs is not None and not args.profile:
        cli.error("--runs goes with --profile")
    args.runs = _RUNS if args.runs is None else args.runs
    others = (args.output_dir, args.samples, args.random)
    if args.profile and (any(others) or args.compare or args.expect or args.runs < 1):
        cli.error("--profile goes with X.npy and --runs N, from 1, alone")
    if args.trace is not None and (any(others) or args.profile or args.layers):
        cli.error("--trace goes with X.npy, --dump and --compare alone")
    if args.dump and args.trace is None:
        cli.error("--dump goes with --trace LEVEL")
    on_boards = args.profile or args.trace is not None
    if not on_boards and not is_target(args.target):
        cli.error(f"--target {args.target} is not one of {', '.join(target_names())}")
    options = arguments.Parser(f"{cli.prog} ... --")
    add_options(options)
    limits.add_limit_options(options)
    args.options = options.parse_args(argv[at + 1 :])
    return args


def _notify(text):
    print(f"run: {limits.printable(text, keep=chr(10))}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(limited())
