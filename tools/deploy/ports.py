"""Finds the serial port that a board is on."""

from __future__ import annotations

from serial.tools import list_ports

from .errors import DeployError


def find_port(port: str = "auto") -> str:
    """The port given, or the only one with a USB device. Raises DeployError rather than guess."""
    if port != "auto":
        return port
    found = sorted(p for p in list_ports.comports() if p.vid is not None)
    if not found:
        raise DeployError("no board found on a USB serial port; name one with --port")
    if len(found) > 1:
        listed = ", ".join(f"{p.device} ({p.description})" for p in found)
        raise DeployError(f"several boards found, name one with --port: {listed}")
    return found[0].device
