"""Say why a serial port cannot be opened or does not answer, and which ports there are."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from serial.tools import list_ports

_SHOWN = 8
_EMULATED = "--target rp2040 is an emulated Pico"


def present() -> str:
    """Return a clause with the ports of this computer, USB first, and what works without one."""
    ports = sorted(list_ports.comports(), key=lambda p: (p.vid is None, p.device))
    names = [f"{p.device} ({p.description})" if p.vid else p.device for p in ports[:_SHOWN]]
    names += ["..."] if len(ports) > _SHOWN else []
    there = f"the ports here are {', '.join(names)}" if names else "there are no serial ports here"
    return f"{there}; {_EMULATED}"


def why_closed(port: str) -> str:
    """Return why a port that could not be opened is closed, and what to do."""
    if "://" in port:
        return "nothing answers at this address"
    if not _exists(port):
        return f"there is no such port: {present()}"
    if os.name == "posix" and not stat.S_ISCHR(os.stat(port).st_mode):
        return f"this is not a serial port: {present()}"
    if os.name == "posix" and not os.access(port, os.R_OK | os.W_OK):
        return (
            "no permission: sudo usermod -aG dialout $USER adds you to the group that may use "
            "serial ports on most systems (uucp on Arch); then log in again"
        )
    return "it is in use, or is not a serial port: close mpremote, Thonny and serial monitors"


def why_silent(port: str, reason: str) -> str:
    """Return why a port that was opened gives no raw REPL, and what to do.

    Args:
        port: its name.
        reason: what failed.
    """
    if "raw repl" not in reason:
        return reason
    return (
        f"no MicroPython answers there ({reason}): press the board's reset button; mpconnxr flash "
        f"--firmware FILE --port {port} installs MicroPython; {present()}"
    )


def _exists(port):
    if os.name == "posix":
        return Path(port).exists()
    return any(p.device.upper() == port.upper() for p in list_ports.comports())
