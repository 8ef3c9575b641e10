"""The command `mpconnxr record`: save samples of a board's sensor, labelled by key presses."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tools import arguments
from tools.deploy import reach
from tools.deploy.errors import BoardError, DeployError
from tools.limits import printable
from tools.progress import EVERY

from .keys import NONE, Keys, keys
from .sensor import Samples, add_sensor_options, define_rows, problem, source_of

if TYPE_CHECKING:
    from .dataset import Dataset

_STREAM = Path(__file__).with_name("on_board_stream.py")
_MOST_LABELS = 9  # keys 1 to 9


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = arguments.parser_for(
        "sensing.record",
        description="Record samples of a board's sensor into a .npz file. While it records, the "
        "keys 1 to 9 choose the label of what comes next, 0 none, and q ends.",
        example="mpconnxr record --pin 26 --labels rest,wave -o samples.npz --window 128",
        page="sensing",
    )
    reach.add_board_options(result)
    add_sensor_options(result)
    add = result.add_argument
    add("-o", "--output", type=Path, required=True, metavar="FILE.npz")
    add("--labels", type=_names, default=[], metavar="A,B,...", help="of the keys 1, 2, ...")
    add("--label", metavar="A", help="initial label (default: none)")
    add("-n", type=int, default=0, metavar="N", help="end after N samples")
    add("--seconds", type=float, default=0, metavar="S", help="end after S seconds")
    add("--window", type=int, default=0, metavar="N", help="samples in a window of x")
    add("--hop", type=int, default=0, metavar="N", help="from one window to the next (--window)")
    add("--append", action="store_true", help="add to FILE.npz")
    add("--overwrite", action="store_true", help="replace FILE.npz")
    add("--json", action="store_true", help="print one JSON object")
    return result


def _names(text):
    names = [name.strip() for name in text.split(",")]
    if not all(names) or len(set(names)) < len(names) or len(names) > _MOST_LABELS:
        raise argparse.ArgumentTypeError(f"up to {_MOST_LABELS} different names, A,B,...")
    return names


def main(argv: list[str] | None = None) -> int:
    """Run the command. Exit status: 0 recorded, 1 failed, 2 usage."""
    command_line = parser()
    args = command_line.parse_args(argv)
    if wrong := problem(args) or _problem(args):
        command_line.error(wrong)
    try:
        dataset = _dataset(args)
        before = dataset.n
        ended = _recorded(args, dataset)
        if args.n:
            dataset.cut(before + args.n)
        if dataset.n == before:
            raise ended or DeployError("the sensor yielded no samples")
        n_windows = dataset.write(args.output, args.window, args.hop or args.window)
    except DeployError as e:
        return _failed(args, e)
    _report(args, dataset, before, n_windows)
    return _failed(args, ended) if ended else 0


def _recorded(args, dataset):
    """Record samples; return an error that ends it early, so that samples are saved first."""
    try:
        _record(args, dataset)
    except KeyboardInterrupt:  # ends a recording like q
        return None
    except DeployError as e:
        return e
    return None


def _problem(args):
    if min(args.n, args.seconds, args.window, args.hop) < 0:
        return "-n, --seconds, --window and --hop must not be negative"
    if args.hop and not args.window:
        return "--hop goes with --window"
    if args.append and args.overwrite:
        return "--append or --overwrite, not both"
    return ""


def _dataset(args):
    """Return the file's dataset or an empty one; never overwrite a file silently."""
    from .dataset import Dataset

    if args.output.exists() and not (args.append or args.overwrite):
        raise DeployError(f"{args.output} exists: --append adds to it, --overwrite replaces it")
    if not args.output.parent.is_dir():
        raise DeployError(f"{args.output.parent} is not a folder")
    is_old = args.append and args.output.exists()
    dataset = Dataset.read(args.output) if is_old else Dataset([])
    for name in [*args.labels, *filter(None, [args.label])]:
        dataset.number_of(name)
    return dataset


def _record(args, dataset):
    source = source_of(args)
    with reach.device_of(args) as device, keys() as pressed:
        device.about()  # refuses other or older firmware
        define_rows(device, source, args)
        device.execute(_STREAM.read_text())
        most_ms = round(args.seconds * 1000)
        call = f"stream(_rows(), {args.n}, {most_ms})"
        session = _Session(args, dataset, pressed)
        lines = device.lines(call)
        with contextlib.closing(lines):
            session.take(lines)


class _Session:
    """A recording, with the label that was chosen last."""

    def __init__(self, args: argparse.Namespace, dataset: Dataset, pressed: Keys):
        self._args, self._dataset, self._keys = args, dataset, pressed
        self._samples = Samples(args)
        self._names = args.labels or dataset.labels
        self._label = dataset.number_of(args.label) if args.label else NONE
        self._end = dataset.n + args.n if args.n else 0
        self._shown, self._began = 0.0, dataset.n
        if sys.stdin.isatty():
            choices = [f"{i} {name}" for i, name in enumerate(self._names, 1)]
            print("keys:", ", ".join([*choices, "0 no label", "q end"]), file=sys.stderr)

    def take(self, lines) -> None:
        """Add samples until the board or the user ends the recording."""
        for line in lines:
            if line:
                block = self._samples.of_line(line)
                self._dataset.add(block, self._label)
                self._show(block.ms)
            if self._is_end(self._keys.pressed()):
                return
            if self._end and self._dataset.n >= self._end:
                return

    def _is_end(self, key):
        if key.isdigit() and int(key) <= len(self._names):
            self._label = self._dataset.number_of(self._names[int(key) - 1]) if int(key) else NONE
        return key in ("q", "Q")

    def _show(self, ms):
        """Show progress: a line that changes on a terminal, else a line now and then."""
        is_terminal = sys.stderr.isatty()
        now = time.monotonic()
        if now - self._shown < (0.2 if is_terminal else EVERY):
            return
        first, self._shown = not self._shown, now
        label = self._dataset.labels[self._label] if self._label != NONE else "no label"
        text = f"record: {ms / 1000:.1f} s, {self._dataset.n - self._began:,} samples, {label}"
        if is_terminal:
            print(f"\r{printable(text)}\x1b[K", end="", file=sys.stderr, flush=True)
        elif not first:
            print(printable(text), file=sys.stderr, flush=True)


def _report(args, dataset, before, n_windows):
    counts = dataset.counts()
    about = {
        "file": str(args.output),
        "recorded": dataset.n - before,
        "samples": dataset.n,
        "channels": dataset.channels,
        "labels": counts,
        "windows": n_windows if args.window else None,
    }
    if args.json:
        print(json.dumps(about))
        return
    if sys.stderr.isatty():
        print(file=sys.stderr)
    counted = ", ".join(f"{name} {n:,}" for name, n in counts.items()) or "no labels"
    line = f"{dataset.n - before:,} samples of {dataset.channels} numbers recorded, "
    line += f"{dataset.n:,} in {args.output}: {counted}"
    if args.window:
        line += f"; {n_windows:,} windows of {args.window}"
    print(printable(line))


def _failed(args, error):
    before = f"{error.traceback}\n" if isinstance(error, BoardError) else ""
    print(printable(f"{before}record: {error}", keep="\n"), file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
