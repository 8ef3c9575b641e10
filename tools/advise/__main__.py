"""The command `mpconnxr advise`: does a model fit a board, and which options help?"""

from __future__ import annotations

import argparse
import errno
import json
import os
import sys
import tempfile
from pathlib import Path

from tools import arguments, limits, project
from tools.deploy.errors import DeployError
from tools.errors import UsageError, text_of

_SECONDS = 60.0


def main(argv: list[str] | None = None) -> int:
    """Run the command. Exit status: 0 the model fits unchanged, 1 it does not, 2 usage."""
    try:
        return _advise(_arguments(sys.argv[1:] if argv is None else argv))
    except (UsageError, DeployError, OSError) as e:
        print(f"advise: {limits.printable(text_of(e), keep=chr(10))}", file=sys.stderr)
        return 2 if isinstance(e, UsageError) else 1


def parser() -> argparse.ArgumentParser:
    """Return the parser of the arguments before `--`."""
    result = arguments.parser_for(
        "advise",
        description="Say whether a model fits a board, and which options help.",
        epilog="Options of the converter follow after -- and apply to each trial.",
        example="mpconnxr advise model.onnx --board pico --samples samples.npz",
        page="advise",
    )
    add = result.add_argument
    add("model", type=Path, help=".onnx")
    add(
        "--board",
        metavar="NAME",
        help="a board that `mpconnxr boards` lists (default: board of [tool.mpconnxr] in "
        "./pyproject.toml)",
    )
    add("--samples", type=Path, metavar="FILE", help="inputs: .npz, .npy or folder of .npy")
    add(
        "--seconds",
        type=arguments.seconds,
        default=_SECONDS,
        help=f"time limit in seconds ({_SECONDS:.0f})",
    )
    add("--json", action="store_true", help="print one JSON object")
    return result


def _arguments(argv):
    """Return the parsed arguments, with those after `--` as `user_options`."""
    at = argv.index("--") if "--" in argv else len(argv)
    args = parser().parse_args(argv[:at])
    args.user_options = tuple(argv[at + 1 :])
    return args


def _advise(args):
    from .search import advise
    from .show import print_advice, to_dict
    from .trial import Task, parsed

    board = project.board_of(args.board)
    if not board:
        raise UsageError("--board NAME is needed, a board that mpconnxr boards lists")
    for path in filter(None, (args.model, args.samples)):
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    parsed(list(args.user_options))
    with tempfile.TemporaryDirectory() as folder:
        task = Task(args.model, board, args.user_options, args.samples, Path(folder))
        advice = advise(task, args.seconds)
    if advice.plain.is_usage:
        raise UsageError(advice.plain.refused)
    if args.json:
        print(json.dumps(to_dict(advice, task)))
    else:
        print_advice(advice, task)
    return 0 if advice.fits else 1


if __name__ == "__main__":
    sys.exit(main())
