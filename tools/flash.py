"""Copies a model and what it needs of mpconnxr/ to a board, and verifies its results there.

    python tools/flash.py model.bin [--port PORT] [--dir FOLDER] [--dry-run] [--no-verify]
    python tools/flash.py --list-boards

Exit status: 0 deployed and verified, 1 not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if __name__ == "__main__":  # as a plain script, the project's folder is not on the path
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools.deploy import boards, transfer
from tools.deploy.device import About, Device
from tools.deploy.errors import BoardError, DeployError
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
    add("--dry-run", action="store_true", help="say what would be copied, change nothing")
    add("--no-verify", action="store_true", help="do not run the golden vectors on the board")
    add("--timeout", type=float, default=_RUN_TIMEOUT, metavar="S", help="for that run")
    add("--list-boards", action="store_true", help="print the boards that are known")
    return parser


def flash(args: argparse.Namespace) -> int:
    """Deploys as the arguments say; returns the exit status. Raises DeployError."""
    files = transfer.files_for(args.model, Package(own=args.ops and args.ops / "device"))
    with Device(find_port(args.port)) as device:
        about = device.about()
        print(f"board     {describe(about)}")
        folder = args.dir or about.folder
        files = [f.under(folder) for f in files]
        todo = transfer.changed(device, files)
        if args.dry_run:
            print("\n".join(f"would copy {f.path}, {len(f.data):,} bytes" for f in todo))
        else:
            transfer.copy(device, todo, folder)
        nbytes = sum(len(f.data) for f in todo)
        done = "to copy" if args.dry_run else "copied"
        print(f"{done:9} {len(todo)} of {len(files)} files, {nbytes:,} bytes, to {folder}")
        if args.dry_run or args.no_verify:
            return 0
        return _verify(device, folder, files[-1].path, args.timeout)


def describe(about: About) -> str:
    """One line: the board, its firmware, its free heap, and its entry in boards/."""
    known = boards.board_of(about.machine, about.platform, boards.load_boards())
    version = ".".join(map(str, about.version))
    text = f"{about.machine or about.platform}, MicroPython {version}, "
    text += f"{about.free_heap_bytes:,} bytes of heap free"
    return text + (f" ({known.name}: {known.arch})" if known else "")


def _verify(device, folder, path, timeout):
    result = device.verify(folder, path, timeout)
    word = "verified" if result.ok else "NOT verified"
    time = "" if result.seconds is None else f", {result.seconds * 1000:,.1f} ms a run"
    print(f"{word}: error {result.max_error:.3g} where values reach {result.largest:.3g}{time}")
    return 0 if result.ok else 1


if __name__ == "__main__":
    sys.exit(main())
