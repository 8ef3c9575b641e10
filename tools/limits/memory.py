"""Measure a process's memory, and limit it through the operating system.

There are two limits, since each has a gap. RLIMIT_DATA (Linux) refuses an allocation in advance,
so that 20 GB at once raise MemoryError with a useful traceback. It counts writable memory, touched
or not. Unlike RLIMIT_AS it does not count libraries and malloc's reserved arenas, of which
onnxruntime's threads take gigabytes that cost nothing. The parent watches the memory in use, which
is what people mean by a limit, but notices a large allocation too late. Neither counts what a
child inherits: a notebook may hold gigabytes before it calls.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

_STACK = 8 << 20  # bytes that count for a thread's stack, though it is hardly used
_THREADS_A_CORE = 2  # numpy's and onnxruntime's

_inherited = 0  # writable bytes when this process began, as RLIMIT_DATA counts them


def begin() -> None:
    """Let set_most count from here on: this process's current memory is its parent's."""
    global _inherited
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        _inherited = pages * os.sysconf("SC_PAGE_SIZE")


def set_most(nbytes: int | None) -> None:
    """Limit this process's memory, if the system can; None: no limit."""
    if sys.platform != "linux":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = resource.RLIM_INFINITY
    if nbytes is not None:
        most = _inherited + nbytes + _STACK * _THREADS_A_CORE * (os.cpu_count() or 1)
    if hard != resource.RLIM_INFINITY and not 0 <= most <= hard:
        most = hard
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def usage(pid: int) -> tuple[int, float]:
    """Return a process's (bytes of memory in use, seconds of processor time); 0 if unknown."""
    try:
        if sys.platform == "linux":
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            return int(fields[21]) * os.sysconf("SC_PAGE_SIZE"), seconds
        command = ["ps", "-o", "rss=,time=", "-p", str(pid)]
        rss, clock = subprocess.run(command, capture_output=True, text=True).stdout.split()
        parts = map(float, clock.replace("-", ":").split(":"))
        return int(rss) << 10, functools.reduce(lambda sum, part: sum * 60 + part, parts)
    except (OSError, ValueError, IndexError):  # the process has ended, or ps is missing
        return 0, 0.0


def is_lack(e: BaseException | None) -> bool:
    """Return True if the exception or one of its causes reports a lack of memory."""
    while e is not None:
        if isinstance(e, MemoryError) or any(sign in str(e) for sign in _SIGNS):
            return True
        e = e.__cause__ or e.__context__
    return False


# Messages of C++, onnxruntime and numpy.
_SIGNS = ("bad_alloc", "Failed to allocate memory", "Unable to allocate")
