"""MicroPython's raw REPL over a process's stdin and stdout."""

from .errors import TargetError
from .process import Lines, Process, SerialLines

# Bytes. A command is held in the target's heap while it is compiled; scripts are files instead.
LONGEST_COMMAND = 16384


class RawRepl:
    """Enter the raw REPL of a MicroPython that has just started, then `execute` source text."""

    def __init__(self, process: Process):
        self._process = process
        self._pending = b""
        self._until(b">>> ")
        process.write(b"\x01")
        self._until(b"raw REPL; CTRL-B to exit\r\n>")

    def execute(self, source: str, lines: Lines) -> str:
        """Run `source`, its output into `lines`; return its traceback, "" if it had none."""
        command = source.encode()
        if len(command) > LONGEST_COMMAND or b"\x04" in command:
            raise TargetError("the arguments are too long or hold a control character")
        self._process.write(command + b"\x04")
        self._until(b"OK")
        while b"\x04" not in self._pending:
            lines.feed(self._pending)
            self._pending = self._read()
        output, _, self._pending = self._pending.partition(b"\x04")
        lines.feed(output)
        errors = SerialLines()
        errors.feed(self._until(b"\x04"))
        return errors.finish()

    def _until(self, mark: bytes) -> bytes:
        """What comes before `mark`; what comes after it is kept for later."""
        while mark not in self._pending:
            self._pending += self._read()
        before, _, self._pending = self._pending.partition(mark)
        return before

    def _read(self) -> bytes:
        data = self._process.read()
        if not data:
            raise TargetError("the target's process has stopped by itself")
        return data
