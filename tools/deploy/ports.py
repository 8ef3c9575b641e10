"""Finds the serial port that a board is on."""

from __future__ import annotations

import time
from pathlib import Path

from serial.tools import list_ports

from .errors import DeployError


def find_port(port: str = "auto", patience: float = 0) -> str:
    """The port given, or the only one with a USB device. Raises DeployError rather than guess.

    patience: seconds to wait for it to appear.
    """
    until = time.monotonic() + patience
    while not _is_there(port) and time.monotonic() < until:
        time.sleep(0.5)
    if port != "auto":
        return port
    found = _usb_ports()
    if not found:
        raise DeployError("no board found on a USB serial port; name one with --port")
    if len(found) > 1:
        listed = ", ".join(f"{p.device} ({p.description})" for p in found)
        raise DeployError(f"several boards found, name one with --port: {listed}")
    return found[0].device


def _usb_ports():
    return sorted(p for p in list_ports.comports() if p.vid is not None)


def _is_there(port):
    return bool(_usb_ports()) if port == "auto" else Path(port).exists()
