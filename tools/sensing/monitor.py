"""The command `mpconnxr monitor`: show a deployed model's answers to a board's sensor."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path, PurePosixPath

from tools import arguments
from tools.deploy import reach
from tools.deploy.errors import BoardError, DeployError
from tools.limits import printable

from .inference import About, Inference
from .keys import keys
from .sensor import add_sensor_options, define_rows, problem, source_of

_MONITOR = Path(__file__).with_name("on_board_monitor.py")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    result = arguments.parser_for(
        "sensing.monitor",
        description="Run a deployed model on a board's sensor and show its answers. q ends.",
        example="mpconnxr monitor --pin 26 --model model.bin",
        page="sensing",
    )
    reach.add_board_options(result)
    add_sensor_options(result)
    add = result.add_argument
    add("--model", default="model.bin", metavar="NAME", help="the deployed model (model.bin)")
    add("--dir", metavar="FOLDER", help="folder on the board (default: its current folder, /)")
    add(
        "--every",
        type=int,
        default=0,
        metavar="N",
        help="samples between two inferences (default: a quarter of the model's input)",
    )
    add("-n", type=int, default=0, metavar="N", help="end after N inferences")
    add("--json", action="store_true", help="print a JSON object for each inference")
    return result


def main(argv: list[str] | None = None) -> int:
    """Run the command. Exit status: 0 ended, 1 error, 2 usage."""
    command_line = parser()
    args = command_line.parse_args(argv)
    if wrong := problem(args):
        command_line.error(wrong)
    if min(args.n, args.every) < 0:
        command_line.error("-n and --every must not be negative")
    try:
        _monitor(args)
    except KeyboardInterrupt:  # ends the command like q
        pass
    except DeployError as e:
        before = f"{e.traceback}\n" if isinstance(e, BoardError) else ""
        print(printable(f"{before}monitor: {e}", keep="\n"), file=sys.stderr)
        return 1
    return 0


def _monitor(args):
    from tools.deploy.places import places_of

    source = source_of(args)
    with reach.device_of(args) as device, keys() as pressed:
        home = device.about().folder  # refuses other or older firmware
        folder = args.dir or home
        places = places_of(device, folder)
        if places.active:
            device.execute(f"sys.path.insert(0, {places.parent(places.active)!r})")
        define_rows(device, source, args)
        device.execute(_MONITOR.read_text())
        path = f"{folder.rstrip('/')}/{args.model}"
        lines = device.lines(f"monitor(_rows(), {path!r}, {args.every}, {args.n})")
        with contextlib.closing(lines):
            try:
                about = About.of_line(next(filter(None, lines)))
            except BoardError as e:
                raise _lacking(device, path, e) or e from None
            _show(args, about, lines, pressed)


def _lacking(device, path, error):
    """Return the likely reason why the board cannot load a model; None if it is unknown."""
    advice = "mpconnxr flash MODEL.bin deploys"
    if "no module named 'mpconnxr'" in error.last_line:
        return DeployError(f"mpconnxr is not on the board: {advice} it with a model")
    file = PurePosixPath(path)
    slots = [str(file.with_name(f"{file.stem}.{slot}{file.suffix}")) for slot in "ab"]
    if any(device.kinds([path, *slots, f"/rom/{file.name}"])):
        return None
    return DeployError(f"no model {path} on the board: {advice} one, --model and --dir name it")


def _show(args, about, lines, pressed):
    from .display import Json, Lines, Picture

    kind = Json if args.json else Picture if sys.stdout.isatty() else Lines
    with kind(about) as shown:
        for line in lines:
            if line:
                shown.show(Inference.of_line(line))
            if pressed.pressed() in ("q", "Q"):
                return


if __name__ == "__main__":
    sys.exit(main())
