"""A child process whose output is read against a deadline, and which never outlives its use."""

import math
import os
import select
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from .errors import TargetError, TargetTimeout

OnLine = Callable[[str], None] | None

_CHUNK = 65536  # bytes, what a pipe holds
_LOOK = 5.0  # seconds after which the process is looked at


def compile_c(command: list[str], what: str) -> None:
    """Runs a compiler. Raises TargetError with the end of what it says of `what`."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise TargetError(f"{what} does not compile: {done.stderr[-800:]}")


class Process:
    """A context manager around `subprocess.Popen`; on leaving it the process is killed.

    timeout: seconds until its end; quiet: of its processor's time, without any output.
    """

    def __init__(self, command: list[str], timeout: float, quiet: float = math.inf, **options):
        self._deadline = time.monotonic() + timeout
        self._timeout = timeout
        self._quiet = quiet
        try:
            self._child = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0, **options)
        except OSError as error:
            raise TargetError(f"cannot start {command[0]}: {error.strerror}") from error

    def __enter__(self) -> "Process":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe:
                pipe.close()

    def write(self, data: bytes) -> None:
        """Write to the process's stdin, if it still reads."""
        try:
            self._child.stdin.write(data)
        except BrokenPipeError as error:
            raise TargetError(f"{self._child.args[0]} has stopped") from error

    def end_input(self) -> None:
        """Close the process's stdin."""
        self._child.stdin.close()

    def read(self) -> bytes:
        """What has come, waiting for it until the deadline; empty at the end of the output."""
        start = self._used()
        while not self._has_come(min(self._left(), self._quiet, _LOOK)):
            if not self._left():
                raise TargetTimeout(f"no end within {self._timeout:g} s")
            if self._used() - start > self._quiet:
                raise TargetTimeout(f"no sign within {self._quiet:g} s of the processor's time")
        return os.read(self._child.stdout.fileno(), _CHUNK)

    def _has_come(self, seconds: float) -> bool:
        return bool(select.select([self._child.stdout], [], [], seconds)[0])

    def _left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _used(self) -> float:
        """Seconds of the processor's time that the process took; of all time where none knows."""
        try:
            stat = Path(f"/proc/{self._child.pid}/stat").read_text()
        except OSError:
            return time.monotonic()
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def wait(self) -> int:
        """The process's status, once it has closed its output."""
        try:
            return self._child.wait(self._left())
        except subprocess.TimeoutExpired as error:
            raise TargetTimeout(f"no end within {self._timeout:g} s") from error


class Lines:
    """Collects output as text and hands each line, once complete, to `on_line`."""

    def __init__(self, on_line: OnLine = None):
        self._on_line = on_line
        self._text = bytearray()
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take output, and pass on the lines that are whole."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._add(line, b"\n")

    def finish(self) -> str:
        """All the text, also where its last line was not ended."""
        if self._rest:
            self._add(self._rest, b"")
            self._rest = b""
        return self._text.decode(errors="replace")

    def _add(self, line: bytes, end: bytes) -> None:
        self._text += line + end
        if self._on_line:
            self._on_line(line.decode(errors="replace"))


class SerialLines(Lines):
    """As `Lines`, for a device: it ends lines with CR LF, and has no exit status but in-band.

    The status is what follows `EXIT_MARK`; that is no part of the text.
    """

    EXIT_MARK = b"\x1e"
    status: int | None = None

    def _add(self, line: bytes, end: bytes) -> None:
        line, mark, status = line.removesuffix(b"\r").partition(self.EXIT_MARK)
        if mark:
            self.status = int(status)
            end = b""
        if line or end:
            super()._add(line, end)
