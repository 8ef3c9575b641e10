"""Run a command in a child process with limits on memory and time.

The parent reads no files. It waits; if the child crashes or exceeds a limit, it reports in one
line what the child was working on.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

from tools.progress import EVERY

from . import memory, noise, report, status

_POLL = 0.05  # seconds between two looks at the child's memory
_POLL_BY_PS = 1.0  # the same where each look starts a process


@dataclass
class End:
    """End of a child process.

    Attributes:
        code: exit status, as a shell has it.
        report: message of the parent.
        peak: most bytes of memory in use.
        seconds: processor time.
    """

    code: int
    report: str = ""
    peak: int = 0
    seconds: float = 0.0


def run(main: Callable[[], int], name: str) -> int:
    """Call main() in a child process and return its exit status.

    Limits apply from apply() on. Without fork (Windows), main() runs here without limits.

    Args:
        main: the command.
        name: prefix of messages.
    """
    if not hasattr(os, "fork"):
        return main()
    end = watch(main, name)
    if end.report:
        print(f"{name}: {end.report}", file=sys.stderr)
    return end.code


def watch(main: Callable[[], int], name: str) -> End:
    """Call main() in a child process as `run` does, but return how it ended."""
    block = status.new_block()
    alive, held = os.pipe()  # the second end closes when the child is gone
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as file:
        inherited, _ = memory.usage(os.getpid())
        pid = os.fork()
        if pid == 0:
            os.close(alive)
            _be_child(main, name, block, file.fileno())
        os.close(held)
        try:
            why = _wait(name, pid, alive, block, inherited)
        finally:
            os.close(alive)
        _, code, usage = os.wait4(pid, 0)
        file.seek(0)
        stderr = file.read(1 << 16).decode(errors="replace")
    end = _end(os.waitstatus_to_exitcode(code), why, block, stderr)
    end.peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1 << 10)
    end.seconds = usage.ru_utime + usage.ru_stime
    return end


def _wait(name, pid, alive, block, inherited):
    """Wait until the child is gone; return why it was killed: "time", "memory" or "".

    Args:
        name: prefix of messages.
        pid: process id of the child.
        alive: descriptor that becomes readable when the child is gone.
        block: the child's status.
        inherited: bytes of memory that the child began with.
    """
    pause = _POLL if sys.platform == "linux" else _POLL_BY_PS
    start = reported = time.monotonic()
    while True:
        if time.monotonic() - reported > EVERY:
            reported = time.monotonic()
            _report_progress(name, block, reported - start)
        try:
            if select.select([alive], [], [], pause)[0]:
                return ""
        except KeyboardInterrupt:
            continue  # the child gets it, too, and ends
        limits, _ = status.read(block)
        nbytes, seconds = memory.usage(pid)
        if 0 < limits.deadline < time.monotonic() or 0 < limits.stage < seconds:
            os.kill(pid, signal.SIGKILL)
            return "time"
        if limits.memory and nbytes - inherited > limits.memory:
            os.kill(pid, signal.SIGKILL)
            return "memory"


def _report_progress(name, block, seconds):
    """Print the current work of a child with limits; one without limits prints it itself."""
    limits, work = status.read(block)
    if limits.deadline and work:
        print(f"{name}: {work}, {seconds:.0f} s", file=sys.stderr, flush=True)


def _end(code, why, block, stderr):
    """Return how a child ended: its exit status, and a message if a limit ended it."""
    limits, work = status.read(block)
    if why == "time":
        return End(1, report.too_long(work))
    if why == "memory" or code < 0 and "bad_alloc" in stderr:
        return End(1, report.too_large(limits, work))
    if code < 0 and code != -signal.SIGINT:
        return End(1, report.crashed(-code, work))
    return End(128 - code if code < 0 else code)


def _be_child(main, name, block, descriptor):
    """Call main() in the child process, and end the process.

    Args:
        main: the command.
        name: its name, for messages.
        block: shared memory for limits and current work.
        descriptor: file that collects the standard error of libraries.
    """
    end_with_parent()
    memory.begin()
    status.watched_by(block)
    noise.set_file(descriptor)
    code = 1
    try:
        code = main()
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # the reader of the output has gone
        code = 1
    except BaseException as e:
        memory.set_most(None)  # printing the report must not fail again
        print(f"{name}: {report.unexpected(e)}", file=sys.stderr)
    finally:
        with contextlib.suppress(OSError):  # the reader has gone
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(int(code or 0))


def end_with_parent():
    """Let the kernel kill this process when its parent ends (on Linux)."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
