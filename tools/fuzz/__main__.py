"""`python -m tools.fuzz model|onnx|calls|summary`."""

import argparse
import json
import sys
from pathlib import Path

from tools.micropython import TargetError

from . import calls, campaign, model, onnx_files, seeds


def summary(args: argparse.Namespace) -> int:
    total = campaign.summed(json.loads(path.read_text()) for path in args.files)
    if args.json:
        args.json.write_text(json.dumps(total, indent=1) + "\n")
    model.show(total)
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.fuzz")
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    about = "damage model files, load and run them"
    verb = verbs.add_parser("model", help=about, description=about)
    model.add_arguments(verb)
    verb.set_defaults(do=model.run)
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
    verb.add_argument("--json", type=Path, metavar="FILE")
    verb.set_defaults(do=summary)
    return parser.parse_args()


def main() -> int:
    args = parse_arguments()
    try:
        return args.do(args)
    except (TargetError, seeds.SeedError, OSError) as error:
        print(f"fuzz: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
