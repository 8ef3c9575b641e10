"""The command `mpconnxr evaluate`: how often is a model right, and where is it wrong?"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tools import arguments, limits
from tools.deploy.errors import DeployError
from tools.errors import ConvertError, RunError, UsageError, text_of
from tools.micropython import TargetError, target_name

if TYPE_CHECKING:
    from .evaluation import Evaluation

_MOST_FILES = 2  # of --data


def limited(argv: list[str] | None = None) -> int:
    """Call `main` in a process whose memory and time are limited, for untrusted models."""
    parser().parse_args(argv)  # --help and wrong usage end here
    from . import evaluation, predict  # noqa: F401 (shared with the process: no --memory)

    return limits.run(lambda: main(argv), "evaluate")


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0 if done, 1 if the model is refused or fails, 2 for wrong usage."""
    args = parser().parse_args(sys.argv[1:] if argv is None else argv)
    limits.apply(args)
    try:
        report = _evaluate(args)
    except (ConvertError, RunError, TargetError, DeployError, OSError) as e:
        print(f"evaluate: {limits.printable(text_of(e), keep=chr(10))}", file=sys.stderr)
        return 2 if isinstance(e, UsageError) else 1
    print(report)
    return 0


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = arguments.parser_for(
        "evaluate",
        description="Compare a model's answers with what is true of test data: accuracy, "
        "confusion, and the worst samples.",
        example="mpconnxr evaluate model.bin --data test.npz:x,y",
        page="quantize",
    )
    add = result.add_argument
    add("model", type=Path, help=".bin")
    add(
        "--data",
        nargs="+",
        required=True,
        metavar="DATA",
        help="FILE.npz:x,y with samples and true classes (integers) or values (floats); or two "
        "files, the samples (.npy, .npz or folder of .npy) and what is true (.npy or FILE.npz:y)",
    )
    add("--float", type=Path, metavar="MODEL.onnx", help="compare with this model in onnxruntime")
    add(
        "--target",
        type=target_name,
        metavar="TARGET",
        help="where the .bin runs: a target of `mpconnxr targets`. By default MicroPython on this "
        "computer (unix) if it is built, else this Python (cpython), which is slow and gives the "
        "same answers",
    )
    add("--port", metavar="PORT", help="also run it on the board at this serial port")
    add("--labels-file", type=Path, metavar="NAMES.txt", help="names of the classes, one a line")
    add(
        "--worst", type=arguments.count, default=10, metavar="N", help="worst samples to list (10)"
    )
    add("--json", action="store_true", help="print one JSON object")
    limits.add_limit_options(result)
    return result


def _evaluate(args):
    """Return what the command prints."""
    from tools.converter.load.namesfile import names_in
    from tools.converter.truth import read_data

    from . import predict
    from .evaluation import evaluate

    if len(args.data) > _MOST_FILES:
        raise UsageError(f"--data {' '.join(args.data)}: one FILE.npz:x,y or two files are needed")
    try:
        data = read_data(*args.data)
    except UsageError as e:
        raise UsageError(f"--data: {e}") from None
    labels = names_in(args.labels_file) if args.labels_file else []
    model = predict.File(args.model, data)
    labels = labels or model.labels
    evaluations: dict[str, Evaluation] = {}
    threshold, seconds = None, None

    def add(name, outputs):
        nonlocal threshold
        result = evaluate(lambda x: outputs, None, data.truth, labels, args.worst, threshold)
        threshold = result.threshold
        evaluations[name] = result

    if args.float:
        add("float", predict.by_onnxruntime(args.float, data))
    target = args.target or predict.default_target()
    add(target, model.on_target(target))
    if args.port:
        outputs, seconds = model.on_board(args.port)
        add("board", outputs)
    return (_json if args.json else _text)(args, evaluations, seconds)


def _json(args, evaluations, seconds):
    same = [
        {"run": name, "as": first, "share": share} for first, name, share in _same(evaluations)
    ]
    runs = {name: one.report() for name, one in evaluations.items()}
    return json.dumps(
        {"model": str(args.model), "runs": runs, "same_class": same, "seconds": seconds}
    )


def _text(args, evaluations, seconds):
    """Return a line for each run, and the details of the last one."""
    last = list(evaluations.values())[-1]
    width = max(map(len, evaluations))
    lines = [f"{name:{width}}  {one.headline()}" for name, one in evaluations.items()]
    lines += [
        f"{name}: the same class as {first} for {share:.1%} of them"
        for first, name, share in _same(evaluations)
    ]
    if seconds is not None:
        lines.append(f"a run on the board takes {seconds * 1000:,.2f} ms")
    return "\n".join([*lines, *last.text().split("\n")[1:]])


def _same(evaluations):
    """Yield (first run, second run, share of samples with the same class) of neighbours."""
    runs = list(evaluations.items())
    for (first, before), (name, one) in zip(runs, runs[1:], strict=False):
        if one.answers.are_classes:
            yield first, name, float((before.answers.predicted == one.answers.predicted).mean())


if __name__ == "__main__":
    sys.exit(limited())
