"""What a process takes, and a limit on its memory that the operating system keeps.

Two limits, as each lacks something:
RLIMIT_DATA stops an allocation before it is made, so that 20 GB at once are a MemoryError with a
traceback that is known. It counts what a process may write to, touched or not; not, as RLIMIT_AS,
the address space of libraries and the reserves of malloc's arenas, of which onnxruntime with its
threads takes gigabytes that cost nothing. Linux alone keeps it.
The parent looks at the memory that is in use, which is what people mean by a limit; it sees too
late what is allocated at once.
Neither counts what a child inherits: a notebook may hold gigabytes before it calls.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

_STACK = 8 << 20  # bytes that a thread's stack counts for, if hardly any of it is used
_THREADS_A_CORE = 2  # numpy's and onnxruntime's

_inherited = 0  # bytes that this process could write to when it began, as RLIMIT_DATA counts them


def begin() -> None:
    """Have set_most count from here on: what this process has now is its parent's."""
    global _inherited
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        _inherited = pages * os.sysconf("SC_PAGE_SIZE")


def set_most(nbytes: int | None) -> None:
    """This process gets no more memory than that, where the system can do it. None: any."""
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
    """Bytes of memory that a process has now, and its seconds of computing; 0 if not known."""
    try:
        if sys.platform == "linux":
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            return int(fields[21]) * os.sysconf("SC_PAGE_SIZE"), seconds
        command = ["ps", "-o", "rss=,time=", "-p", str(pid)]
        rss, clock = subprocess.run(command, capture_output=True, text=True).stdout.split()
        parts = map(float, clock.replace("-", ":").split(":"))
        return int(rss) << 10, functools.reduce(lambda sum, part: sum * 60 + part, parts)
    except (OSError, ValueError, IndexError):  # it has ended, or there is no ps
        return 0, 0.0


def is_lack(e: BaseException | None) -> bool:
    """True if memory was lacking: this, or what it was made of, says so."""
    while e is not None:
        if isinstance(e, MemoryError) or any(sign in str(e) for sign in _SIGNS):
            return True
        e = e.__cause__ or e.__context__
    return False


# As C++, onnxruntime and numpy say it.
_SIGNS = ("bad_alloc", "Failed to allocate memory", "Unable to allocate")
