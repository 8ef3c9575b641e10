"""Share limits and current work between a child and the parent that watches it.

They lie in memory that both processes map: a child killed inside a native call has already written
where it was, and writing costs no system call. Without a watching parent, nothing here does
anything.
"""

from __future__ import annotations

import mmap
import struct
import time
from dataclasses import dataclass

from .memory import set_most
from .printable import printable

_NBYTES = 4096
_LIMITS = struct.Struct("<ddQ")  # see Limits
_STAGE, _STAGE_AT = struct.Struct("<d"), 8
_SIZE = struct.Struct("<H")
_TEXT_AT = _LIMITS.size + _SIZE.size
_TEXT_MOST = 300  # characters, of up to 4 bytes each

_block: mmap.mmap | None = None  # in a child
_is_growing = False  # the limit on memory follows the size of the files
_grown = 0  # bytes that it has grown to
_has_own_time = False  # --timeout is set: no other limit on time


@dataclass(frozen=True)
class Limits:
    """Limits of a child; 0 means none.

    Attributes:
        deadline: seconds of the monotonic clock.
        stage: processor time in seconds at which the current stage must be finished.
        memory: bytes.
    """

    deadline: float = 0.0
    stage: float = 0.0
    memory: int = 0


def new_block() -> mmap.mmap:
    """Return empty shared memory, which a child inherits."""
    return mmap.mmap(-1, _NBYTES)


def read(block: mmap.mmap) -> tuple[Limits, str]:
    """Return a child's limits, and a text that names its current work."""
    (size,) = _SIZE.unpack_from(block, _LIMITS.size)
    text = block[_TEXT_AT : _TEXT_AT + size].decode(errors="replace")
    return Limits(*_LIMITS.unpack_from(block, 0)), text


def watched_by(block: mmap.mmap | None) -> None:
    """Make this process a child that writes to this block; None: it is not watched."""
    global _block
    _block = block


def is_watched() -> bool:
    """Return True if another process watches this process."""
    return _block is not None


def at(what: str, name: str = "", most: float | None = None) -> None:
    """Note the current work for messages, such as 'folding constants, at Expand e1'.

    Args:
        what: the work.
        name: node or file.
        most: seconds of processor time that the work may take until the next call, unless an
            option limits the time.
    """
    if _block is None:
        return
    stage = 0.0 if most is None or _has_own_time else time.process_time() + most
    _STAGE.pack_into(_block, _STAGE_AT, stage)
    text = printable(f"{what}, at {name}" if name else what)[:_TEXT_MOST].encode()
    _SIZE.pack_into(_block, _LIMITS.size, 0)  # a reader never sees the size of another text
    _block[_TEXT_AT : _TEXT_AT + len(text)] = text
    _SIZE.pack_into(_block, _LIMITS.size, len(text))


def patience(most: float) -> float:
    """Return the seconds of processor time that a child's program may take.

    That is `most`; infinity if an option limits the time or nobody watches.
    """
    return float("inf") if _block is None or _has_own_time else most


def working_on() -> str:
    """Return the argument of the last `at`; "" if nobody watches."""
    return "" if _block is None else read(_block)[1]


def limits() -> Limits:
    """Return the limits of this process; none if nobody watches."""
    return Limits() if _block is None else read(_block)[0]


def memory_limit() -> int:
    """Return the limit on memory in bytes; 0 for none."""
    return limits().memory


def set_limits(
    seconds: float | None, memory: int | None, growing: bool = False, staged: bool = False
) -> None:
    """Set limits from now on.

    Args:
        seconds: None: no limit.
        memory: bytes; None: no limit.
        growing: `grow` may raise the limit on memory.
        staged: `at` may set limits on processor time.
    """
    global _is_growing, _has_own_time
    if _block is not None:
        _is_growing, _has_own_time = growing, not staged
        memory = max(memory or 0, _grown if growing else 0)
        deadline = 0.0 if seconds is None else time.monotonic() + seconds
        _LIMITS.pack_into(_block, 0, deadline, 0.0, memory)
        set_most(memory or None)


def grow(nbytes: int) -> None:
    """Allow eight times the size of the model's files, unless an option limits the memory."""
    global _grown
    if _block is not None and _is_growing:
        now = limits()
        _grown = max(_grown, 8 * nbytes)
        if 8 * nbytes > now.memory:
            _LIMITS.pack_into(_block, 0, now.deadline, now.stage, 8 * nbytes)
            set_most(8 * nbytes)
