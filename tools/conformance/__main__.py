"""python -m tools.conformance: ONNX's backend tests on a MicroPython target."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

from tqdm import tqdm

from tools.errors import text_of
from tools.micropython import TargetError, get_target, target_names

from .cases import all_cases
from .prepare import prepare_all
from .report import print_summary, write_docs
from .suite import run_cases


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 the suite ran (whatever its results), 1 it could not, 2 usage."""
    args = _arguments(argv)
    try:
        return _run(args)
    except (TargetError, OSError) as e:
        print(f"conformance: {text_of(e)}", file=sys.stderr)
        return 1


def _arguments(argv):
    parser = argparse.ArgumentParser("python -m tools.conformance", description=__doc__)
    add = parser.add_argument
    add("--target", default="unix", choices=target_names())
    add("--filter", type=_regex, metavar="REGEX", help="of 'COLLECTION NAME'")
    add("--json", type=Path, metavar="FILE", help="write one JSON object a case and line")
    add("--list", action="store_true", help="print the cases' names and run nothing")
    add("--write-docs", action="store_true", help="rewrite docs/operators.md and the baseline")
    add("-v", "--verbose", action="store_true", help="print each case that did not pass")
    args = parser.parse_args(argv)
    if args.write_docs and (args.filter or args.target != "unix"):
        parser.error("--write-docs goes with the whole suite on unix")
    return args


def _regex(text):
    try:
        return re.compile(text)
    except re.error as e:
        raise argparse.ArgumentTypeError(f"no regular expression: {e}") from None


def _run(args):
    cases = [c for c in all_cases() if not args.filter or args.filter.search(c.id)]
    if not cases:
        print(f"conformance: no case matches --filter {args.filter.pattern}", file=sys.stderr)
        return 2
    if args.list:
        for case in cases:
            print(case.collection, case.name, case.operator)
        return 0
    rows = _with_progress(cases, get_target(args.target))
    if args.json:
        args.json.write_text("".join(json.dumps(row.as_dict()) + "\n" for row in rows))
    if args.verbose:
        for row in rows:
            if not row.passed:
                print(f"{row.collection} {row.name}: {row.status}: {row.reason}")
    print_summary(rows)
    if args.write_docs:
        write_docs(rows)
    return 0


def _with_progress(cases, target):
    def bar(desc):
        return tqdm(total=len(cases), desc=desc, unit="case", disable=not sys.stderr.isatty())

    with bar("convert") as done:
        prepared = prepare_all(cases, on_case=done.update)
    with bar(target.name) as done:
        return run_cases(cases, prepared, target, on_case=done.update)


if __name__ == "__main__":
    sys.exit(main())
