"""mpconnxr check: check that mpconnxr works on a board, and write a report to keep or send."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from mpconnxr import __version__
from tools import arguments
from tools.deploy import reach
from tools.deploy.errors import BoardError, DeployError
from tools.limits import printable

from . import MODELS

_CALLS = 20
_REPORT = 1  # version of the report's format


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    cli = arguments.parser_for(
        "check",
        description="Check mpconnxr on a board: each loop against plain Python on random data, "
        "six models against onnxruntime, their times and heap. Deployed models stay.",
        example="mpconnxr check -o report.json",
        page="boards",
    )
    reach.add_board_options(cli)
    add = cli.add_argument
    add(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.json",
        help="write the report to a file, to send it",
    )
    add(
        "--calls",
        type=arguments.count,
        default=_CALLS,
        metavar="N",
        help=f"calls of each loop ({_CALLS})",
    )
    add("--only", choices=("loops", "models"), help="check only this part")
    add("--model", action="append", choices=MODELS, help="check only these models")
    add("--json", action="store_true", help="print the report as one JSON object")
    return cli


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0 if all is right, 1 if not, 2 for wrong usage."""
    args = parser().parse_args(argv)
    try:
        report = _report(args)
        if args.output:
            args.output.write_text(json.dumps(report, indent=1) + "\n")
    except DeployError as e:
        before = f"{e.traceback}\n" if isinstance(e, BoardError) else ""
        return _failed(args, f"{before}check: {e}")
    except OSError as e:
        return _failed(args, f"check: {e.filename}: {e.strerror}")
    if args.json:
        print(json.dumps(report))
    elif args.output:
        print(f"report    {args.output}")
    return 0 if report["ok"] else 1


def _failed(args, text):
    print(printable(text, keep="\n"), file=sys.stderr)
    if args.json:
        print(json.dumps({"error": text}))
    return 1


def _report(args):
    from tools.deploy.deployment import describe

    from .bench import Bench

    with reach.device_of(args) as device:
        bench = Bench(device)
        _print(args, f"board     {describe(bench.about, bench.board)}")
        about = asdict(bench.about) | {"board": bench.board.name if bench.board else None}
        about["emulated"] = bool(args.target)
        report = {"report": _REPORT, "mpconnxr": __version__, "board": about}
        if args.only != "models":
            report["loops"] = _loops(args, bench)
        if args.only != "loops":
            report["models"] = _models(args, bench)
    wrong = report.get("loops", {}).get("wrong", [])
    failed = [m["name"] for m in report.get("models", []) if not m["ok"]]
    return report | {"ok": not wrong and not failed}


def _loops(args, bench):
    """Check all loops.

    Returns:
        {calls, forms: {form: number of loops that used it}, wrong: [[family, loop, form]]}.
    """
    from . import loops

    forms: dict[str, int] = {}
    wrong = []
    with bench.cleared():
        for names in loops.parts():
            bench.bring(loops.files_for(names, args.calls, bench.machine))
            lines = bench.run(loops.SCRIPT, [str(args.calls), *names])
            results = {loop.key: loop for loop in loops.parsed(lines)}
            for key, digest in loops.expected(names, args.calls).items():
                loop = results.get(key)
                form = loop.form if loop else "missing"
                forms[form] = forms.get(form, 0) + 1
                if loop is None or loop.digest != digest:
                    wrong.append([*key, form])
    taken = ", ".join(f"{n} {form}" for form, n in sorted(forms.items()))
    _print(args, f"loops     {sum(forms.values())}, {args.calls} calls each: {taken}")
    for family, name, form in wrong:
        _print(args, f"WRONG     {family}.{name} as {form}: differs from plain Python")
    return {"calls": args.calls, "forms": forms, "wrong": wrong}


def _models(args, bench):
    from . import models

    results = []
    for model in models.models(tuple(args.model or MODELS)):
        checked = models.check(bench, model)
        _print(args, f"{model.name:9} {_text(checked)}")
        results.append(asdict(checked))
    return results


def _text(model):
    if model.error:
        return f"FAILED: {model.error}"
    verdict = "verified" if model.ok else "WRONG"
    is_beyond = model.bound is not None and model.max_error > model.bound
    most = f" (at most {model.bound:.3g} is right)" if is_beyond else ""
    text = f"{verdict}, error {model.max_error:.3g}{most} where values reach {model.largest:.3g}"
    if model.warm_ms is not None:
        text += f", {model.warm_ms:.1f} ms a run"
    strategy = "program" if model.is_program else "kernels"
    return f"{text}, heap {model.heap_bytes:,} bytes ({strategy})"


def _print(args, text):
    if not args.json:
        print(printable(text), flush=True)


if __name__ == "__main__":
    sys.exit(main())
