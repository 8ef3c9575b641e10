"""Run a program with a model and other files on a board at a serial port, for once.py.

The files go into a folder of their own, with what they need of mpconnxr/ unless the board has it
in use already. The folder is removed afterwards: what is deployed stays as it is.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tools.deploy import boards, transfer
from tools.deploy.code import File, code_for
from tools.deploy.deployment import machine_of
from tools.deploy.device import Device
from tools.deploy.errors import BoardError
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package
from tools.deploy.places import places_of
from tools.errors import RunError

_FOLDER = "mpconnxr_run"  # on the board
_MAX_BYTES = 64 << 20  # of a program's output: tensors and traces, in base64


def run_on_board(
    args: Namespace,
    files: Mapping[str, bytes],
    program: Callable[[str], str],
    silence: float,
    needs: Collection[str] = (),
) -> str:
    """Run a program on a board and return its output.

    Args:
        args: the command's options.
        files: {name: contents} of the files beside the program, model.bin among them.
        program: function of the files' folder; returns the program.
        silence: seconds without a byte after which the board counts as lost.
        needs: optional modules of the package.

    Raises:
        RunError: if the program raises an exception.
        DeployError: if the board cannot be reached, or has too little space.
    """
    with files_on_board(args.target, files, args.ops, needs) as (device, folder):
        try:
            return device.execute(program(folder), silence, max_bytes=_MAX_BYTES)
        except BoardError as e:
            raise RunError(f"{args.target}: {e}") from None


@contextmanager
def files_on_board(
    port: str, files: Mapping[str, bytes], ops: Path | None = None, needs: Collection[str] = ()
) -> Iterator[tuple[Device, str]]:
    """Copy files to a board, which can import the package afterwards; remove them in the end.

    Args:
        port: the serial port.
        files: {name: contents}, model.bin among them.
        ops: folder of the user's operators.
        needs: optional modules of the package.

    Yields:
        The board, and the folder of the files with a / at its end.

    Raises:
        DeployError: if the board cannot be reached, or has too little space.
    """
    package = Package(own=ops and ops / "device")
    with Device(port) as device:
        about = device.about()
        machine = machine_of(
            about, boards.board_of(about.machine, about.platform, boards.load_boards())
        )
        model = _model(files["model.bin"])
        model = replace(model, optional=model.optional | set(needs))
        code = code_for(model, package, machine)
        own = [File(f"{_FOLDER}/{name}", data).under(about.folder) for name, data in files.items()]
        away = own[0].path.rpartition("/")[0]
        deployed = _deployed(device, code, about.folder)
        copied = [] if deployed is not None else [f.under(away) for f in code]
        transfer.bring(device, copied + own, about.folder, "run")
        device.reset()
        parent = away if deployed is None else deployed
        try:
            device.execute(f"import sys\nsys.path.insert(0, {parent!r})\n")
            yield device, f"{away}/"
        finally:
            device.reset()
            device.clear(away)


def _deployed(device, code, folder):
    """Return the folder from which the board can import the same code already, or None."""
    places = places_of(device, folder)
    if not places.active:
        return None
    parent = places.parent(places.active)
    sizes = device.tree([places.package(places.active)])
    changes = transfer.compare(device, [f.under(parent) for f in code], sizes)
    return None if changes.copy or changes.replaces(sizes) else parent


def _model(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bin"
        path.write_bytes(data)
        return read_model(path)
