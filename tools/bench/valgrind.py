"""Counts the instructions of a process of this computer."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.micropython import TargetError

_COMMAND = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")


def output_of(
    command: Sequence[str], timeout: float, folder: Path | None = None
) -> subprocess.CompletedProcess:
    """What a command printed. Raises TargetError where it does not end in time."""
    try:
        return subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        raise TargetError(f"{command[0]}: no end within {timeout:.0f} s") from None


def counted(
    command: Sequence[str],
    timeout: float,
    folder: Path | None = None,
    before: Sequence[str] = (),
    options: Sequence[str] = (),
) -> tuple[int, str]:
    """(instructions, what was printed) of a command. Raises TargetError.

    before: of valgrind's own command; options: of valgrind.
    """
    if shutil.which("valgrind") is None:
        raise TargetError("valgrind is needed to count on this computer")
    done = output_of([*before, *_COMMAND, *options, *command], timeout, folder)
    total = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not total:
        raise TargetError(f"{command[0]}: {done.stderr[-500:]}")
    return int(total.group(1)), done.stdout
