"""Deploy a model to a board with what it needs of mpconnxr/, and verify its results there.

    mpconnxr flash model.bin [--port PORT] [--dry-run] [--no-verify]
    mpconnxr flash model.bin --rollback
    mpconnxr flash model.bin --to FOLDER [--board NAME]
    mpconnxr flash --firmware FILE.uf2
    mpconnxr flash --list-boards

Exit status: 0 deployed and verified, 1 not, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if __name__ == "__main__":  # as a plain script, the project's folder is not on the path
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

from tools import arguments
from tools.deploy import boards, firmware, reach
from tools.deploy.board_names import in_sources
from tools.deploy.errors import BoardError, DeployError
from tools.deploy.modules import OPTIONAL_BY_NAME, Package
from tools.deploy.reporter import Reporter
from tools.limits import nbytes, printable

if TYPE_CHECKING:
    from tools.program.build import DeploymentPlan

_RESTART = 20  # s for a new firmware to start
_RUN_TIMEOUT = 600  # s; large models take minutes without native code
_NEEDS = {"flash": "target"}
# Pairs of which one would be ignored, or contradict the other.
_APART = {
    "to": (
        *("port", "target", "dir", "reserve", "romfs", "dry_run", "rollback", "firmware"),
        *("older", "overwrite", "strand"),
    ),
    "board": ("source",),
    "target": ("port", "firmware"),
    "romfs": ("reserve", "older", "overwrite", "strand"),
    "rollback": ("overwrite", "source"),
    "dry_run": ("rollback", "firmware"),
    "cores": ("source", "interpret", "rollback"),
}


def main(argv: list[str] | None = None) -> int:
    """Run the command; return 0 if deployed and verified, 1 if not, 2 for wrong usage."""
    cli = parser()
    args = cli.parse_args(argv)
    if args.model is None and not (args.list_boards or args.firmware):
        cli.error("a model.bin or model.onnx is needed")
    explicit = {name for name in vars(args) if getattr(args, name) != cli.get_default(name)}
    if problem := _conflict(explicit):
        cli.error(problem)
    args.reporter = Reporter(args.json)
    try:
        if args.board:
            if not (board := boards.named(args.board)):
                cli.error(f"no board {args.board}: {boards.advice_on(args.board)}")
            args.board = board.name
        if args.list_boards:
            args.reporter.plain(boards.table_of(boards.load_boards()))
            return 0
        return args.reporter.end(flash(args))
    except BoardError as e:
        return _failed(args, str(e), f"{in_sources(e.traceback)}\n")
    except DeployError as e:
        return _failed(args, str(e))
    except KeyboardInterrupt:
        return _failed(args, "interrupted")


def _conflict(explicit):
    """Return why options, named as argparse's dest, do not go together; "" if they do."""
    for name, needed in _NEEDS.items():
        if name in explicit and needed not in explicit:
            return f"{_option(name)} goes with {_option(needed)}"
    for name, others in _APART.items():
        for other in others:
            if name in explicit and other in explicit:
                return f"give {_option(name)} or {_option(other)}, not both"
    return ""


def _option(name):
    return "--" + name.replace("_", "-")


def _failed(args, error, before=""):
    print(printable(f"{before}flash: {error}", keep="\n" if before else ""), file=sys.stderr)
    return args.reporter.end(1, error)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    cli = arguments.parser_for(
        "flash",
        description=__doc__.partition("\n")[0],
        example="mpconnxr flash model.bin --port /dev/ttyACM0",
        page="deploy",
    )
    add = cli.add_argument
    add("model", nargs="?", type=Path, help="model.bin, or model.onnx that is converted first")
    add("--port", default="auto", help="serial port or pty (default: the only USB one)")
    reach.add_emulated_options(cli)
    add("--dir", metavar="FOLDER", help="folder on the board (default: its current folder, /)")
    add(
        "--with",
        dest="extra",
        action="append",
        default=[],
        choices=sorted(OPTIONAL_BY_NAME),
        help="optional module of mpconnxr that your program imports",
    )
    add(
        "--ops",
        type=Path,
        metavar="FOLDER",
        help="folder of your own operators with their kernels",
    )
    add(
        "--reserve",
        type=nbytes,
        default=0,
        metavar="BYTES",
        help="RP2 boards: bytes of flash before the file system that hold models, read in place",
    )
    add(
        "--romfs",
        action="store_true",
        help="write code and model to the firmware's ROMFS partition",
    )
    add(
        "--interpret",
        action="store_true",
        help="deploy the model with its kernels, which take more memory than a program",
    )
    add(
        "--cores",
        type=int,
        choices=(1, 2),
        default=1,
        help="cores of an RP2040 or RP2350 that run the program, for load(cores=2)",
    )
    add("--source", action="store_true", help="copy .py files in all forms instead of compiling")
    add(
        "--key",
        type=Path,
        metavar="PUB",
        help="refuse the model unless this Ed25519 key signed it",
    )
    add(
        "--older", action="store_true", help="accept a model with a lower counter than the board's"
    )
    add(
        "--strand",
        action="store_true",
        help="update the code even if other models on the board can no longer load",
    )
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
    add("--rollback", action="store_true", help="activate the board's earlier model")
    add(
        "--no-verify",
        action="store_true",
        help="do not verify the model on the board by its test vector",
    )
    add(
        "--timeout",
        type=arguments.seconds,
        default=_RUN_TIMEOUT,
        metavar="S",
        help="limit for that run [s]",
    )
    add(
        "--to",
        type=Path,
        metavar="FOLDER",
        help="write all files to a folder, to be copied by other means",
    )
    add(
        "--board",
        metavar="NAME",
        help="board of `mpconnxr boards`: with --to the one to compile for, else the expected one",
    )
    add(
        "--firmware",
        type=Path,
        metavar="FILE",
        help="install this MicroPython first, a .uf2 or .bin",
    )
    add("--json", action="store_true", help="print one JSON object, at the end")
    add("--list-boards", action="store_true", help="list the known boards")
    return cli


def flash(args: argparse.Namespace) -> int:
    """Deploy as the arguments say; return the exit status.

    Raises:
        DeployError: if the model cannot be deployed.
    """
    model = _model(args) if args.model else None
    if args.firmware:
        firmware.install(args.firmware, args.port, args.reporter)
    if not model:
        return 0
    package = Package(own=args.ops and args.ops / "device")
    if args.to:
        return _write(args, model, package)
    from tools.deploy.deployment import Deployment, RomDeployment

    patience = _RESTART if args.firmware else 0
    with reach.device_of(args, patience, _read(args)) as device:
        kind = RomDeployment if args.romfs else Deployment
        plan_for, remedy = lambda *of: _plan(args, *of), lambda *of: _remedy(args, model, *of)
        deployment = kind(device, model, package, args, plan_for, remedy)
        if args.rollback:
            return deployment.roll_back()
        if not (status := deployment.run()) and not args.dry_run:
            _report_next(args, model)
        return status


def _report_next(args, model):
    """Print the lines that load and run the model on the board."""
    from tools.starter import starter_of

    lines = starter_of(model.data, model.name).lines(args.dir or "")
    is_kept = args.model.suffix == ".bin" and not getattr(args, "is_temporary", False)
    new = f"; mpconnxr new {args.model} writes a main.py" if is_kept else ""
    args.reporter.plain("\n    ".join([f"next      on the board (mpremote repl){new}:", *lines]))
    args.reporter.note("next", lines)


def _write(args, model, package):
    """Write the model and its code into a folder, to be copied by other means."""
    from tools.deploy import fit, folder
    from tools.deploy.code import File

    board = boards.named(args.board) if args.board else None
    if board and board.unable:
        raise DeployError(f"{board.name}: {board.unable}")
    plan = _plan(args, model, package, board.machine if board else None, False)
    files = plan.files
    inputs = [args.model, *package.paths(), *([args.key] if args.key else [])]
    folder.write(args.to, [*files, File(model.name, model.data)], inputs)
    nbytes = len(model.data) + sum(len(f.data) for f in files)
    args.reporter.plain(f"{len(files) + 1} files, {nbytes:,} bytes, in {args.to}; {plan.summary}")
    args.reporter.note("files", [f.path for f in files] + [model.name])
    cores = {"program_for": plan.program_for, "second_core": plan.second_core}
    needs = fit.needs_of(model, files, in_place=False, **cores)
    remedy = lambda needs: _remedy(args, model, board, board.free_heap_bytes, needs)  # noqa: E731
    if board and (warning := fit.warning(needs, nbytes, board, remedy)):
        print(f"flash: warning: {warning}", file=sys.stderr)
    return 0


def _plan(args, model, package, machine, in_place) -> DeploymentPlan:
    """Decide how the model is deployed."""
    from tools.program.build import plan_deployment

    options = {"interpret": args.interpret, "ops": args.ops, "key": args.key}
    reasons = [f"--{name}" for name, value in options.items() if value]
    return plan_deployment(model, package, machine, in_place, ", ".join(reasons), args.cores)


def _remedy(args, model, board, heap, needs):
    """Return advice on what would make the model fit; imports the converter only then."""
    from tools.advise.remedy import remedy, with_room

    made = args.model.with_suffix(".bin")
    return remedy(made, model, with_room(board, heap), needs)


def _model(args):
    from tools.deploy import origin
    from tools.deployable import deployable

    model = deployable(args.model, args.reporter)
    if not (model.golden_nbytes or args.no_verify or args.dry_run or args.to):
        raise DeployError(
            f"{args.model} has no test vector to verify it with (mpconnxr convert says why): give "
            "--no-verify"
        )
    origin.check_signature(model, args.key)
    return model.with_requested([OPTIONAL_BY_NAME[name] for name in args.extra])


def _read(args):
    return [path for path in (args.model, args.firmware, args.ops, args.key) if path]


if __name__ == "__main__":
    arguments.called_as("python tools/flash.py")
    sys.exit(main())
