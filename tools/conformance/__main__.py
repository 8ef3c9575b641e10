"""The command `mpconnxr conformance`: run ONNX's tests and onnxruntime's operators on a target."""

from __future__ import annotations

import argparse
import json
import re
import sys

from tools import arguments
from tools.errors import text_of
from tools.micropython import TargetError, get_target, target_name
from tools.progress import progress

from . import COLLECTIONS, MS, OLD, ONNX, VERSIONS


def main(argv: list[str] | None = None) -> int:
    """Run the command. Exit status: 0 the suite ran (passed or not), 1 it failed, 2 usage."""
    args = _arguments(argv)
    try:
        return _run(args)
    except (TargetError, OSError) as e:
        print(f"conformance: {text_of(e)}", file=sys.stderr)
        return 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = arguments.parser_for(
        "conformance",
        description="Run ONNX's own tests on a target.",
        example="mpconnxr conformance --filter test_conv -v",
        page="operators",
    )
    add = result.add_argument
    add("--target", default="unix", type=target_name, metavar="T", help="unix, unix32@1.26.1, ...")
    add("--collection", action="append", choices=COLLECTIONS, help="run this one (default: all)")
    add("--filter", type=_regex, metavar="REGEX", help="run cases whose 'COLLECTION NAME' matches")
    add("--json", action="store_true", help="print a line of JSON for each case")
    add("--list", action="store_true", help="print the cases' names and run nothing")
    add("--write-docs", action="store_true", help="rewrite docs/operators.md and the failures")
    add("-v", "--verbose", action="store_true", help="print each case that does not pass")
    return result


def _arguments(argv):
    command_line = parser()
    args = command_line.parse_args(argv)
    collections = set(args.collection or COLLECTIONS)
    is_part = args.filter or collections not in (set(COLLECTIONS), {MS}, {OLD, VERSIONS})
    if args.write_docs and (is_part or args.target != "unix"):
        command_line.error(
            "--write-docs needs --target unix and all collections, ms, or old and versions"
        )
    if args.write_docs:
        from .report import DOCS

        if not DOCS.is_file():
            command_line.error("--write-docs only works in a clone")
    return args


def _regex(text):
    try:
        return re.compile(text)
    except re.error as e:
        raise argparse.ArgumentTypeError(f"not a regular expression: {e}") from None


_MISSING = "without onnxruntime, and the archive that MPCONNXR_NODE_CASES names"


def _run(args):
    from .report import print_summary, write_docs

    cases = [c for c in _collected(args) if not args.filter or args.filter.search(c.id)]
    if not cases:
        what = f"matches --filter {args.filter.pattern}" if args.filter else _MISSING
        print(f"conformance: no case {what}", file=sys.stderr)
        return 2
    if args.list:
        for case in cases:
            print(case.collection, case.name, case.operator)
        return 0
    rows = _with_progress(cases, get_target(args.target))
    if args.write_docs:
        write_docs(rows)
    if args.json:
        print("\n".join(json.dumps(row.as_dict()) for row in rows))
        return 0
    if args.verbose:
        for row in rows:
            if not row.passed:
                print(f"{row.collection} {row.name}: {row.status}: {row.reason}")
    print_summary(rows)
    return 0


def _collected(args):
    """Return the cases of the requested collections."""
    from .cases import all_cases, ms_cases, old_cases, version_cases

    names = args.collection or COLLECTIONS
    cases = list(all_cases() if set(names) & set(ONNX) else ())
    cases += old_cases() if OLD in names else ()
    cases += version_cases() if VERSIONS in names else ()
    cases += ms_cases() if MS in names else ()
    return [c for c in cases if c.collection in names]


def _with_progress(cases, target):
    from .prepare import prepare_all
    from .suite import run_cases

    with progress("conformance", "converting", len(cases), "case") as done:
        prepared = prepare_all(cases, on_case=done.update)
    with progress("conformance", f"running on {target.name}", len(cases), "case") as done:
        return run_cases(cases, prepared, target, on_case=done.update)


if __name__ == "__main__":
    sys.exit(main())
