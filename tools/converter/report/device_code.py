"""What of mpconnxr/ a board is given for a model, and how much of it is in memory as it runs."""

from __future__ import annotations

from functools import cache

from tools.deploy.code import code_for
from tools.deploy.machine import Machine
from tools.deploy.model_file import ModelFile
from tools.deploy.modules import Package

# Bytes of the heap that a module takes for each byte of its .mpy, the least, likely and most:
# tests/host/test_estimates.py holds them to what is measured. Some that count are not needed.
HEAP = (1.2, 1.4, 1.7)

_package = cache(Package)  # reads each module once


def sizes(model: ModelFile, machine: Machine) -> tuple[int, int]:
    """Bytes of the .mpy that a board is given, and of those that are in memory there."""
    files = code_for(model, _package(), machine)
    return sum(len(f.data) for f in files), sum(len(f.data) for f in files if f.loaded)
