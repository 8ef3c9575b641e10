"""Command-line options that select a board, and how commands connect to it."""

from __future__ import annotations

import argparse
import contextlib
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from serial.tools import list_ports

from tools.cache import cache_folder
from tools.limits import overwritten
from tools.micropython import TargetError, emulated_pico, get_target, target_name, target_names
from tools.micropython.rp2040 import PicoTarget

from . import ports
from .device import Device
from .errors import DeployError


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
        help="file that is its flash (default: one in the cache folder, ~/.cache/mpconnxr)",
    )


def _emulated(text):
    """Return the target that an option's argument names, if it has a serial port."""
    names = [n for n in target_names() if isinstance(get_target(n), PicoTarget)]
    if text.partition("@")[0] not in names:
        hint = emulated_pico(text) or f"choose from {', '.join(map(repr, names))}"
        raise argparse.ArgumentTypeError(f"invalid choice: {text!r} ({hint})")
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
        raise DeployError(
            "no board found on a USB serial port: connect one with a cable that carries data, or "
            f"name another port; {ports.present()}"
        )
    if len(candidates) > 1:
        listed = ", ".join(f"{p.device} ({p.description})" for p in candidates)
        raise DeployError(f"several boards found, name one with --port: {listed}")
    return candidates[0].device


def _usb_ports():
    return sorted(p for p in list_ports.comports() if p.vid is not None)


def _is_there(port):
    return bool(_usb_ports()) if port == "auto" else Path(port).exists()


@contextlib.contextmanager
def device_of(
    args: argparse.Namespace, patience: float = 0, inputs: Iterable[Path] = ()
) -> Iterator[Device]:
    """Yield the board, or an emulated board that runs meanwhile; it is reset.

    Args:
        args: parsed options.
        patience: seconds to wait for the port.
        inputs: files that the emulated flash must not overwrite.

    Raises:
        DeployError: if it cannot be reached.
    """
    if not args.target:
        with Device(find_port(args.port, patience)) as device:
            yield device
        return
    flash = args.flash or cache_folder() / f"{args.target}.flash"
    try:
        with get_target(args.target).board(_checked(flash, inputs)) as board:
            from .emulated import EmulatedDevice  # imports what only emulated boards need

            with EmulatedDevice(board) as device:
                yield device
    except TargetError as e:
        raise DeployError(str(e)) from None


def _checked(flash, inputs):
    """Return the file of a flash, whose folder is made; refuse one that is read meanwhile."""
    if reason := overwritten([flash], list(inputs)):
        raise DeployError(reason)
    try:
        flash.parent.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise DeployError(f"{e.filename}: {e.strerror}") from None
    return flash
