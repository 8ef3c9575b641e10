"""Run child processes whose output is read against a deadline and that never outlive their use."""

import math
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from .errors import TargetError, TargetTimeout

OnLine = Callable[[str], None] | None

_CHUNK = 65536  # capacity of a pipe in bytes
_END = 1.0  # seconds for a process to end that has closed its pipes
_POLL = 5.0  # seconds between two looks at the process


def compile_c(command: list[str], what: str) -> None:
    """Run a compiler.

    Args:
        command: the compiler with its arguments.
        what: name of the source, for the message.

    Raises:
        TargetError: with the end of the compiler's messages.
    """
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise TargetError(f"{what} does not compile: {done.stderr[-800:]}")


class Process:
    """Context manager around subprocess.Popen that kills the process at the end of the context.

    A file keeps what the process writes to stderr.

    Args:
        command: the program and its arguments.
        timeout: seconds until the process must end.
        quiet: seconds of processor time that it may take without any output.
        options: further arguments of Popen.
    """

    def __init__(self, command: list[str], timeout: float, quiet: float = math.inf, **options):
        self._deadline = time.monotonic() + timeout
        self._timeout = timeout
        self._quiet = quiet
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (__exit__ closes it)
        options |= {"stdout": subprocess.PIPE, "stderr": self._errors}
        try:
            self._child = subprocess.Popen(command, bufsize=0, **options)
        except OSError as error:
            self._errors.close()
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
        for pipe in (self._child.stdin, self._child.stdout, self._errors):
            if pipe:
                pipe.close()

    def write(self, data: bytes) -> None:
        """Write to the process's stdin.

        Raises:
            TargetError: if the process no longer reads it.
        """
        try:
            self._child.stdin.write(data)
        except BrokenPipeError as error:
            raise self.stopped(self._child.args[0]) from error

    def errors(self) -> str:
        """Return what the process, which has ended, wrote to stderr."""
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def stopped(self, what: str) -> TargetError:
        """Return the error of a process that ended too early, with its last line on stderr."""
        try:
            self._child.wait(_END)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        *_, last = ["", *filter(None, map(str.strip, self.errors().splitlines()))]
        return TargetError(f"{what} has stopped unexpectedly" + (last and f": {last[:300]}"))

    def end_input(self) -> None:
        """Close the process's stdin."""
        self._child.stdin.close()

    def read(self) -> bytes:
        """Return the output so far, waiting for some until the deadline; b"" once it has ended.

        Raises:
            TargetTimeout: at the deadline, or after `quiet` seconds of processor time.
        """
        start = self._used()
        while not self._is_readable(min(self._left(), self._quiet, _POLL)):
            if not self._left():
                raise TargetTimeout(f"no end within {self._timeout:g} s")
            if self._used() - start > self._quiet:
                raise TargetTimeout(f"no sign within {self._quiet:g} s of the processor's time")
        return os.read(self._child.stdout.fileno(), _CHUNK)

    def _is_readable(self, seconds: float) -> bool:
        return bool(select.select([self._child.stdout], [], [], seconds)[0])

    def _left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def _used(self) -> float:
        """Return the process's processor time in seconds; without /proc, the time of day."""
        try:
            stat = Path(f"/proc/{self._child.pid}/stat").read_text()
        except OSError:
            return time.monotonic()
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def wait(self) -> int:
        """Return the exit status of a process that has closed its output."""
        try:
            return self._child.wait(self._left())
        except subprocess.TimeoutExpired as error:
            raise TargetTimeout(f"no end within {self._timeout:g} s") from error


class Lines:
    """Collect output as text and pass each complete line to `on_line`."""

    def __init__(self, on_line: OnLine = None):
        self._on_line = on_line
        self._text = bytearray()
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Add output, and pass on the complete lines."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._add(line, b"\n")

    def finish(self) -> str:
        """Return the whole text, an unfinished last line included."""
        if self._rest:
            self._add(self._rest, b"")
            self._rest = b""
        return self._text.decode(errors="replace")

    def _add(self, line: bytes, end: bytes) -> None:
        self._text += line + end
        if self._on_line:
            self._on_line(line.decode(errors="replace"))


class SerialLines(Lines):
    """Lines from a device: they end with CR LF, and `EXIT_MARK` precedes the script's exit status.

    Attributes:
        EXIT_MARK: not part of the text.
        status: exit status; None before it has come.
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
