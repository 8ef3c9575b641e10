"""Copies a model and what it needs of mpconnxr/ to a board, and verifies its results there.

    python tools/flash.py model.bin [--port PORT] [--dry-run] [--no-verify]
    python tools/flash.py model.bin --rollback
    python tools/flash.py --list-boards

Exit status: 0 deployed and verified, 1 not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if __name__ == "__main__":  # as a plain script, the project's folder is not on the path
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools.deploy import boards
from tools.deploy.deployment import Deployment
from tools.deploy.device import Device
from tools.deploy.errors import BoardError, DeployError
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package
from tools.deploy.ports import find_port

_RUN_TIMEOUT = 600  # s; a large model takes minutes where the firmware has no native code


def main(argv: list[str] | None = None) -> int:
    parser = _parser()
    args = parser.parse_args(argv)
    if args.model is None and not args.list_boards:
        parser.error("a model.bin is needed")
    try:
        if args.list_boards:
            print(boards.table_of(boards.load_boards()))
            return 0
        return flash(args)
    except BoardError as e:
        print(f"{e.traceback}\nflash: {e}", file=sys.stderr)
    except DeployError as e:
        print(f"flash: {e}", file=sys.stderr)
    except KeyboardInterrupt:
        print("flash: interrupted", file=sys.stderr)
    return 1


def _parser():
    parser = argparse.ArgumentParser("flash.py", description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add("model", nargs="?", type=Path, help="made by python -m tools.converter")
    add("--port", default="auto", help="serial port or pty (default: the only USB one)")
    add("--dir", metavar="FOLDER", help="where on the board (default: its current folder, /)")
    add("--ops", type=Path, metavar="FOLDER", help="operators of your own, with their kernels")
    add("--source", action="store_true", help="copy .py files in all forms, compile nothing")
    add("--dry-run", action="store_true", help="say what would be copied, change nothing")
    add("--rollback", action="store_true", help="make the board's earlier model the active one")
    add("--no-verify", action="store_true", help="do not run the golden vectors on the board")
    add("--timeout", type=float, default=_RUN_TIMEOUT, metavar="S", help="for that run")
    add("--list-boards", action="store_true", help="print the boards that are known")
    return parser


def flash(args: argparse.Namespace) -> int:
    """Deploys as the arguments say; returns the exit status. Raises DeployError."""
    model = read_model(args.model)
    if not (model.golden_nbytes or args.no_verify or args.dry_run):
        raise DeployError(
            f"{args.model} has no golden vector (--strip, or no onnxruntime): give --no-verify"
        )
    package = Package(own=args.ops and args.ops / "device")
    with Device(find_port(args.port)) as device:
        deployment = Deployment(device, model, package, args)
        return deployment.roll_back() if args.rollback else deployment.run()


if __name__ == "__main__":
    sys.exit(main())
