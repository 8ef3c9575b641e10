"""Count the instructions of a process on this computer."""

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
    """Run a command to its end.

    Raises:
        TargetError: if it does not end within the timeout (in seconds).
    """
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
    """Run a command under callgrind and return (instructions, its stdout).

    Args:
        command: the program and its arguments.
        timeout: seconds.
        folder: folder in which it runs.
        before: command that runs valgrind, such as setarch.
        options: options of valgrind.

    Raises:
        TargetError: if valgrind is missing or the command fails.
    """
    if shutil.which("valgrind") is None:
        raise TargetError("install valgrind to count on this computer")
    done = output_of([*before, *_COMMAND, *options, *command], timeout, folder)
    total = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not total:
        raise TargetError(f"{command[0]}: {done.stderr[-500:]}")
    return int(total.group(1)), done.stdout
