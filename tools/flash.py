"""Copies a model and what it needs of mpconnxr/ to a board, and verifies its results there.

    python tools/flash.py model.bin [--port PORT] [--dry-run] [--no-verify]
    python tools/flash.py model.bin --rollback
    python tools/flash.py model.bin --to FOLDER [--board NAME]
    python tools/flash.py --firmware FILE.uf2
    python tools/flash.py --list-boards

Exit status: 0 deployed and verified, 1 not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

if __name__ == "__main__":  # as a plain script, the project's folder is not on the path
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools import arguments
from tools.deploy import boards, firmware, fit, folder, names, origin, reach, usage
from tools.deploy.board_names import in_sources
from tools.deploy.code import File
from tools.deploy.deployment import Deployment, RomDeployment
from tools.deploy.device import Device
from tools.deploy.errors import BoardError, DeployError
from tools.deploy.model_file import read_model
from tools.deploy.modules import OPTIONAL_BY_NAME, Package
from tools.deploy.said import Said
from tools.limits import nbytes, printable
from tools.program.ways import Way, way_of

_RESTART = 20  # s for a new firmware to come up
_RUN_TIMEOUT = 600  # s; a large model takes minutes where the firmware has no native code


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0 deployed and verified, 1 not, 2 wrong usage."""
    asked = parser()
    args = asked.parse_args(argv)
    if args.model is None and not (args.list_boards or args.firmware):
        asked.error("a model.bin is needed")
    given = {name for name in vars(args) if getattr(args, name) != asked.get_default(name)}
    if problem := usage.problem(given):
        asked.error(problem)
    args.said = Said(args.json)
    try:
        if args.board and not boards.named(args.board):
            asked.error(f"no board {args.board}: --list-boards has their names")
        if args.list_boards:
            args.said.plain(boards.table_of(boards.load_boards()))
            return 0
        return args.said.end(flash(args))
    except BoardError as e:
        return _failed(args, str(e), f"{in_sources(e.traceback)}\n")
    except DeployError as e:
        return _failed(args, str(e))
    except KeyboardInterrupt:
        return _failed(args, "interrupted")


def _failed(args, error, before=""):
    print(printable(f"{before}flash: {error}", keep="\n" if before else ""), file=sys.stderr)
    return args.said.end(1, error)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    found = arguments.parser_for("flash", description=__doc__.partition("\n")[0])
    add = found.add_argument
    add("model", nargs="?", type=Path, help="made by python -m tools.converter")
    add("--port", default="auto", help="serial port or pty (default: the only USB one)")
    reach.add_emulated_options(found)
    add("--dir", metavar="FOLDER", help="where on the board (default: its current folder, /)")
    add(
        "--with",
        dest="extra",
        action="append",
        default=[],
        choices=sorted(OPTIONAL_BY_NAME),
        help="a module of mpconnxr that your program needs besides the model",
    )
    add("--ops", type=Path, metavar="FOLDER", help="operators of your own, with their kernels")
    add(
        "--reserve",
        type=nbytes,
        default=0,
        metavar="BYTES",
        help="RP2 boards: keep models in this much flash before the file system, read in place",
    )
    add("--romfs", action="store_true", help="write code and model to the firmware's ROMFS")
    add("--interpret", action="store_true", help="kernels, though the model could be a program")
    add(
        "--cores",
        type=int,
        choices=(1, 2),
        default=1,
        help="of an RP2040 or RP2350, for load(cores=2)",
    )
    add("--source", action="store_true", help="copy .py files in all forms, compile nothing")
    add(
        "--key",
        type=Path,
        metavar="PUB",
        help="refuse a model that this Ed25519 key has not signed",
    )
    add("--older", action="store_true", help="take a model with a lower counter than the board's")
    add("--strand", action="store_true", help="update the code though other models cannot load")
    add(
        "--overwrite",
        action="store_true",
        help="replace the code in place if there is no room for two copies",
    )
    add(
        "--dry-run",
        action="store_true",
        help="list the files that would be copied; change nothing",
    )
    add("--rollback", action="store_true", help="make the board's earlier model the active one")
    add("--no-verify", action="store_true", help="do not run the golden vectors on the board")
    add(
        "--timeout", type=arguments.seconds, default=_RUN_TIMEOUT, metavar="S", help="for that run"
    )
    add("--to", type=Path, metavar="FOLDER", help="write all files there, for another way to copy")
    add(
        "--board",
        metavar="NAME",
        help="of --list-boards: with --to compiled for it, else expected",
    )
    add("--firmware", type=Path, metavar="FILE", help="first install MicroPython: .uf2 or .bin")
    add("--json", action="store_true", help="print one JSON object, at the end")
    add("--list-boards", action="store_true", help="list the known boards")
    return found


def flash(args: argparse.Namespace) -> int:
    """Deploys as the arguments say; returns the exit status. Raises DeployError."""
    model = _model(args) if args.model else None
    if args.firmware:
        firmware.install(args.firmware, args.port, args.said)
    if not model:
        return 0
    package = Package(own=args.ops and args.ops / "device")
    if args.to:
        return _write(args, model, package)
    with _port(args) as port, Device(port, reach.silence_of(args)) as device:
        kind = RomDeployment if args.romfs else Deployment
        way, remedy = lambda *of: _way(args, *of), lambda *of: _remedy(args, model, *of)
        deployment = kind(device, model, package, args, way, remedy)
        return deployment.roll_back() if args.rollback else deployment.run()


def _write(args, model, package):
    """The model and what it needs of mpconnxr/ into a folder, for those who copy it themselves."""
    board = boards.named(args.board) if args.board else None
    if board and board.unable:
        raise DeployError(f"{board.name}: {board.unable}")
    way = _way(args, model, package, board.machine if board else None, False)
    files = way.files
    inputs = [args.model, *package.paths(), *([args.key] if args.key else [])]
    folder.write(args.to, [*files, File(model.name, model.data)], inputs)
    nbytes = len(model.data) + sum(len(f.data) for f in files)
    args.said.plain(f"{len(files) + 1} files, {nbytes:,} bytes, in {args.to}; {way.said}")
    args.said.note("files", [f.path for f in files] + [model.name])
    cores = {"program_for": way.program_for, "second_core": way.second_core}
    needs = fit.needs_of(model, files, in_place=False, **cores)
    remedy = lambda needs: _remedy(args, model, board, board.free_heap_bytes, needs)  # noqa: E731
    if board and (warning := fit.warning(needs, nbytes, board, remedy)):
        print(f"flash: warning: {warning}", file=sys.stderr)
    return 0


def _way(args, model, package, machine, in_place) -> Way:
    """How the model is to lie on a board."""
    options = {"interpret": args.interpret, "ops": args.ops, "with": args.extra, "key": args.key}
    given = [f"--{name}" for name, value in options.items() if value]
    return way_of(model, package, machine, in_place, ", ".join(given), args.cores)


def _remedy(args, model, board, heap, needs):
    """What would make the model fit; the converter is imported and asked only then."""
    from tools.advise.remedy import remedy, with_room

    return remedy(args.model, model, with_room(board, heap), needs)


def _model(args):
    if problem := names.problem(args.model.name):
        raise DeployError(f"{args.model}: {problem}: rename it")
    model = read_model(args.model)
    if not (model.golden_nbytes or args.no_verify or args.dry_run or args.to):
        raise DeployError(
            f"{args.model} has no golden vector (the converter said why): give --no-verify"
        )
    origin.check_signature(model, args.key)
    return replace(model, optional=model.optional | {OPTIONAL_BY_NAME[n] for n in args.extra})


def _port(args):
    return reach.port_of(args, _RESTART if args.firmware else 0, _read(args))


def _read(args):
    return [path for path in (args.model, args.firmware, args.ops, args.key) if path]


if __name__ == "__main__":
    arguments.called_as("python tools/flash.py")
    sys.exit(main())
