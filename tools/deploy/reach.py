"""Command-line options that select a board, and how commands connect to it."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from serial.tools import list_ports

from tools.limits import overwritten
from tools.micropython import TargetError, get_target, target_name, target_names
from tools.micropython.rp2040 import PicoTarget

from .device import Device
from .errors import DeployError

EMULATED_SILENCE = 600  # s; an emulated board is 30 times slower than its clock
FLASH = Path("build", "rp2040.flash")  # of an emulated board


def add_emulated_options(parser: argparse.ArgumentParser) -> None:
    """Add --target and --flash to a parser."""
    parser.add_argument(
        "--target",
        metavar="rp2040",
        type=_emulated,
        help="an emulated board instead of one on a port",
    )
    parser.add_argument(
        "--flash",
        type=Path,
        metavar="FILE",
        help=f"where it keeps its flash (default: {FLASH.as_posix()})",
    )


def _emulated(text):
    """Return the target that an option's argument names, if it has a serial port."""
    names = [n for n in target_names() if isinstance(get_target(n), PicoTarget)]
    if text.partition("@")[0] not in names:
        choices = ", ".join(map(repr, names))
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} (choose from {choices})")
    return target_name(text)


def add_board_options(parser: argparse.ArgumentParser) -> None:
    """Add PORT, --target and --flash to a parser."""
    parser.add_argument(
        "port",
        nargs="?",
        default="auto",
        metavar="PORT",
        help="serial port or pty (default: the only USB one)",
    )
    add_emulated_options(parser)


def find_port(port: str = "auto", patience: float = 0) -> str:
    """Return the named port; for "auto", the only port with a USB device.

    Args:
        port: name of a port, or "auto".
        patience: seconds to wait for the port to appear.

    Raises:
        DeployError: if no port, or more than one, has a USB device.
    """
    until = time.monotonic() + patience
    while not _is_there(port) and time.monotonic() < until:
        time.sleep(0.5)
    if port != "auto":
        return port
    candidates = _usb_ports()
    if not candidates:
        raise DeployError("no board found on a USB serial port; name one with --port")
    if len(candidates) > 1:
        listed = ", ".join(f"{p.device} ({p.description})" for p in candidates)
        raise DeployError(f"several boards found, name one with --port: {listed}")
    return candidates[0].device


def _usb_ports():
    return sorted(p for p in list_ports.comports() if p.vid is not None)


def _is_there(port):
    return bool(_usb_ports()) if port == "auto" else Path(port).exists()


@contextlib.contextmanager
def port_of(
    args: argparse.Namespace, patience: float = 0, inputs: Iterable[Path] = ()
) -> Iterator[str]:
    """Yield the port of the board, or of an emulated board that runs meanwhile.

    Args:
        args: parsed options.
        patience: seconds to wait for the port.
        inputs: files that the emulated flash must not overwrite.

    Raises:
        DeployError: if there is no such board.
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
    """Yield the board, reset; raise DeployError if it cannot be reached."""
    with port_of(args) as port, Device(port, silence_of(args)) as device:
        device.about()  # refuses other or older firmware
        yield device


def silence_of(args: argparse.Namespace) -> float | None:
    """Return how long the board may send nothing [s]; None for the default."""
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
