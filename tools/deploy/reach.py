"""The options that say which board a command talks to, and the way to it."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from tools.limits import overwritten
from tools.micropython import TargetError, get_target, target_name, target_names
from tools.micropython.rp2040 import PicoTarget

from .device import Device
from .errors import DeployError
from .ports import find_port

EMULATED_SILENCE = 600  # s; an emulated board is 30 times slower than its own clock says
FLASH = Path("build", "rp2040.flash")  # of an emulated board


def add_emulated_options(found: argparse.ArgumentParser) -> None:
    """--target, --flash."""
    found.add_argument(
        "--target",
        metavar="rp2040",
        type=_emulated,
        help="an emulated board instead of one on a port",
    )
    found.add_argument(
        "--flash",
        type=Path,
        metavar="FILE",
        help=f"where it keeps its flash (default: {FLASH.as_posix()})",
    )


def _emulated(text):
    """A target that has a serial port."""
    names = [n for n in target_names() if isinstance(get_target(n), PicoTarget)]
    if text.partition("@")[0] not in names:
        choices = ", ".join(map(repr, names))
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {choices})")
    return target_name(text)


def add_board_options(found: argparse.ArgumentParser) -> None:
    """PORT, --target, --flash."""
    found.add_argument(
        "port",
        nargs="?",
        default="auto",
        metavar="PORT",
        help="serial port or pty (default: the only USB one)",
    )
    add_emulated_options(found)


@contextlib.contextmanager
def port_of(
    args: argparse.Namespace, patience: float = 0, inputs: Iterable[Path] = ()
) -> Iterator[str]:
    """The port of the board, or of an emulated one while it is used. Raises DeployError.

    patience: seconds to wait for the port; inputs: files that the flash must not be.
    """
    if not args.target:
        yield find_port(args.port, patience)
        return
    try:
        with get_target(args.target).board(_flash_file(args.flash, inputs)) as board:
            yield board.port
    except TargetError as e:
        raise DeployError(str(e)) from None


@contextlib.contextmanager
def device_of(args: argparse.Namespace) -> Iterator[Device]:
    """The board, after a reset. Raises DeployError."""
    with port_of(args) as port, Device(port, silence_of(args)) as device:
        device.about()  # refuses what is not MicroPython, or too old
        yield device


def silence_of(args: argparse.Namespace) -> float | None:
    """Seconds without a byte after which the board counts as lost, None for the usual ones."""
    return EMULATED_SILENCE if args.target else None


def _flash_file(flash, inputs):
    file = flash or FLASH
    if reason := overwritten([file], list(inputs)):
        raise DeployError(reason)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise DeployError(f"{e.filename}: {e.strerror}") from None
    return file
