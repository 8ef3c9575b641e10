"""A program on a board at a serial port, with a model and other files, for tools/run/profile.py.

What it needs of mpconnxr/ goes there as tools/flash.py would copy it; the files go into a folder
of their own and are removed afterwards. A deployed model stays as it is.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.deploy import boards, transfer
from tools.deploy.code import File, code_for
from tools.deploy.deployment import machine_of
from tools.deploy.device import Device
from tools.deploy.errors import BoardError
from tools.deploy.model_file import read_model
from tools.deploy.modules import Package

from .errors import RunError

_FOLDER = "mpconnxr_run"  # on the board


def run_on_board(
    args: Namespace, files: Mapping[str, bytes], program: Callable[[Namespace, str], str]
) -> str:
    """What a program printed; it is made for the folder where the files are, model.bin too.

    Raises RunError, DeployError.
    """
    package = Package(own=args.ops and args.ops / "device")
    with Device(args.target) as device:
        about = device.about()
        machine = machine_of(
            about, boards.board_of(about.machine, about.platform, boards.load_boards())
        )
        code = code_for(_model(files["model.bin"]), package, machine)
        own = [File(f"{_FOLDER}/{name}", data).under(about.folder) for name, data in files.items()]
        _copy(device, [f.under(about.folder) for f in code] + own, about.folder)
        device.reset()
        folder = own[0].path.rpartition("/")[0] + "/"
        start = f"import sys\nsys.path.insert(0, {about.folder!r})\n"
        try:
            silence = args.timeout * (2 * args.runs + 4)
            return device.execute(start + program(args, folder), silence)
        except BoardError as e:
            raise RunError(f"{args.target}: {e}") from None
        finally:
            device.reset()
            for f in own:
                device.remove(f.path)


def _model(data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bin"
        path.write_bytes(data)
        return read_model(path)


def _copy(device, files, folder):
    sizes = device.sizes({f.path.rpartition("/")[0] or "/" for f in files})
    changes = transfer.compare(device, files, sizes)
    transfer.check_space(device, changes, folder, sizes)
    transfer.copy(device, changes)
