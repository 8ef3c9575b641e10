"""A command in a child process, so that a file from elsewhere takes neither memory nor time.

The parent reads no file. It waits, and where the child dies or exceeds its limits it says in one
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

_LOOKS = 0.05  # s between two looks at the child's memory
_LOOKS_BY_PS = 1.0  # where each of them starts a process


@dataclass
class End:
    """How a child ended. code: as of a shell; report: what the parent has to say.

    peak: bytes of memory; seconds: of computing.
    """

    code: int
    report: str = ""
    peak: int = 0
    seconds: float = 0.0


def run(main: Callable[[], int], name: str) -> int:
    """main() in a child of this process; its exit status. name: what reports begin with.

    Limits hold from apply() on. Where there is no fork (Windows) main runs here, without any.
    """
    if not hasattr(os, "fork"):
        return main()
    end = watch(main, name)
    if end.report:
        print(f"{name}: {end.report}", file=sys.stderr)
    return end.code


def watch(main: Callable[[], int], name: str) -> End:
    """The same, and says how it ended instead of printing it."""
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
        said = file.read(1 << 16).decode(errors="replace")
    end = _end(os.waitstatus_to_exitcode(code), why, block, said)
    end.peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1 << 10)
    end.seconds = usage.ru_utime + usage.ru_stime
    return end


def _wait(name, pid, alive, block, inherited):
    """Until the child is gone; why it was killed, or "". inherited: bytes that it began with."""
    pause = _LOOKS if sys.platform == "linux" else _LOOKS_BY_PS
    start = said = time.monotonic()
    while True:
        if time.monotonic() - said > EVERY:
            said = time.monotonic()
            _say_what(name, block, said - start)
        try:
            if select.select([alive], [], [], pause)[0]:
                return ""
        except KeyboardInterrupt:
            continue  # the child gets it as well, and ends
        limits, _ = status.read(block)
        nbytes, seconds = memory.usage(pid)
        if 0 < limits.deadline < time.monotonic() or 0 < limits.stage < seconds:
            os.kill(pid, signal.SIGKILL)
            return "time"
        if limits.memory and nbytes - inherited > limits.memory:
            os.kill(pid, signal.SIGKILL)
            return "memory"


def _say_what(name, block, seconds):
    """What the child works on; nothing where it has no limits: there it speaks for itself."""
    limits, place = status.read(block)
    if limits.deadline and place:
        print(f"{name}: {place}, {seconds:.0f} s", file=sys.stderr, flush=True)


def _end(code, why, block, said):
    limits, place = status.read(block)
    if why == "time":
        return End(1, report.too_long(place))
    if why == "memory" or code < 0 and "bad_alloc" in said:
        return End(1, report.too_large(limits, place))
    if code < 0 and code != -signal.SIGINT:
        return End(1, report.crashed(-code, place))
    return End(128 - code if code < 0 else code)


def _be_child(main, name, block, descriptor):
    """Runs main and ends the process."""
    end_with_parent()
    memory.begin()
    status.watched_by(block)
    noise.goes_to(descriptor)
    code = 1
    try:
        code = main()
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else int(e.code is not None)
    except KeyboardInterrupt:
        code = 130
    except BrokenPipeError:  # who read the output has seen enough
        code = 1
    except BaseException as e:
        memory.set_most(None)  # saying so must not fail again
        print(f"{name}: {report.unexpected(e)}", file=sys.stderr)
    finally:
        with contextlib.suppress(OSError):  # nobody reads it
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(int(code or 0))


def end_with_parent():
    """This process is killed where its parent ends."""
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
