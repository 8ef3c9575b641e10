"""`python -m tests.fuzz model|proofs|onnx|calls|summary`."""

import argparse
import json
import sys
from pathlib import Path

from tools import arguments
from tools.errors import text_of
from tools.micropython import TargetError

from . import calls, campaign, model, onnx_files, proofs, seeds


def summary(args: argparse.Namespace) -> int:
    model.show(campaign.summed(map(_results, args.files)), args.json)
    return 0


def _results(path):
    try:
        result = json.loads(path.read_text())
    except ValueError:
        result = None
    if not isinstance(result, dict) or "seed_faults" not in result:
        raise seeds.SeedError(f"{path} does not hold results of `fuzz model`")
    return result


def parser() -> argparse.ArgumentParser:
    about = "Damaged files, and the API in any order."
    result = arguments.Parser("python -m tests.fuzz", description=about)
    verbs = result.add_subparsers(required=True, metavar="VERB")
    about = "damage model files, load and run them"
    verb = verbs.add_parser("model", help=about, description=about)
    model.add_arguments(verb)
    verb.set_defaults(do=model.run)
    about = "damage model files and prove the calls that they would make, on this computer"
    verb = verbs.add_parser("proofs", help=about, description=about)
    proofs.add_arguments(verb)
    verb.set_defaults(do=proofs.run)
    about = "damage .onnx files and convert them"
    verb = verbs.add_parser("onnx", help=about, description=about)
    onnx_files.add_arguments(verb)
    verb.set_defaults(do=onnx_files.run)
    about = "call the API in any order, with any argument"
    verb = verbs.add_parser("calls", help=about, description=about)
    calls.add_arguments(verb)
    verb.set_defaults(do=calls.run)
    about = "add up the results of parts"
    verb = verbs.add_parser("summary", help=about, description=about)
    verb.add_argument("files", nargs="+", type=Path, metavar="FILE")
    verb.add_argument("--json", action="store_true", help="print one JSON object")
    verb.set_defaults(do=summary)
    return result


def main(argv: list[str] | None = None) -> int:
    """Run the command line; return 1 for finds or a failure, 2 for wrong usage, else 0."""
    args = parser().parse_args(argv)
    try:
        return args.do(args)
    except (TargetError, seeds.SeedError, OSError) as error:
        print(f"fuzz: {text_of(error)}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
