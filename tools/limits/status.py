"""What a child and the parent that watches it both see: limits, and what is being worked on.

Memory that both map, so that a child killed in the middle of a native call has said where it was,
and that saying so costs no system call. Without a parent that watches, all of it does nothing.
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
_has_own_time = False  # --timeout is given: no other limit on time


@dataclass(frozen=True)
class Limits:
    """deadline: of the monotonic clock, in seconds; stage: seconds of computing of the process, at
    which what it works on should be done; memory: in bytes; 0 for none.
    """

    deadline: float = 0.0
    stage: float = 0.0
    memory: int = 0


def new_block() -> mmap.mmap:
    """An empty one, that a child inherits."""
    return mmap.mmap(-1, _NBYTES)


def read(block: mmap.mmap) -> tuple[Limits, str]:
    """The limits that the child has set, and what it works on ("" until it says so)."""
    (size,) = _SIZE.unpack_from(block, _LIMITS.size)
    text = block[_TEXT_AT : _TEXT_AT + size].decode(errors="replace")
    return Limits(*_LIMITS.unpack_from(block, 0)), text


def watched_by(block: mmap.mmap | None) -> None:
    """This process is a child: what follows goes to this block. None: it is not."""
    global _block
    _block = block


def is_watched() -> bool:
    """Return whether another process watches this one."""
    return _block is not None


def at(what: str, name: str = "", most: float | None = None) -> None:
    """Says what is being worked on, as a message continues: 'folding constants', 'Expand e1'.

    most: seconds that this may compute until the next call, if no option says a limit; a busy
    machine does not count.
    """
    if _block is None:
        return
    stage = 0.0 if most is None or _has_own_time else time.process_time() + most
    _STAGE.pack_into(_block, _STAGE_AT, stage)
    text = printable(f"{what}, at {name}" if name else what)[:_TEXT_MOST].encode()
    _SIZE.pack_into(_block, _LIMITS.size, 0)  # never half a text behind the size of another
    _block[_TEXT_AT : _TEXT_AT + len(text)] = text
    _SIZE.pack_into(_block, _LIMITS.size, len(text))


def patience(most: float) -> float:
    """Seconds that a program of a child may compute: most, if no option says a limit; endless
    where another limit holds, or nobody watches.
    """
    return float("inf") if _block is None or _has_own_time else most


def working_on() -> str:
    """What `at` said last; "" where nobody watches."""
    return "" if _block is None else read(_block)[1]


def limits() -> Limits:
    """Those of this process; none where nobody watches."""
    return Limits() if _block is None else read(_block)[0]


def memory_limit() -> int:
    """In bytes; 0 for none."""
    return limits().memory


def set_limits(
    seconds: float | None, memory: int | None, growing: bool = False, staged: bool = False
) -> None:
    """From now on; None for no limit.

    growing: `grow` may raise the one on memory; staged: `at` may set one on time besides.
    """
    global _is_growing, _has_own_time
    if _block is not None:
        _is_growing, _has_own_time = growing, not staged
        memory = max(memory or 0, _grown if growing else 0)
        deadline = 0.0 if seconds is None else time.monotonic() + seconds
        _LIMITS.pack_into(_block, 0, deadline, 0.0, memory)
        set_most(memory or None)


def grow(nbytes: int) -> None:
    """So large are the model's files: eight times of it may be used, if no option says a limit."""
    global _grown
    if _block is not None and _is_growing:
        now = limits()
        _grown = max(_grown, 8 * nbytes)
        if 8 * nbytes > now.memory:
            _LIMITS.pack_into(_block, 0, now.deadline, now.stage, 8 * nbytes)
            set_most(8 * nbytes)
