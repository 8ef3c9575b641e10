"""One run at a time: a model that computes, and those in its arena, refuse other calls.

A call takes the model's turn and gives it back. Where the firmware has threads a turn is a lock,
which two cores cannot take at once; elsewhere whatever interrupts a call ends before that goes on.
Callers have the steps in this order, without a jump between them: at a jump MicroPython runs
callbacks and raises KeyboardInterrupt, and a turn that was taken must be given back.

    begin[model._take(False)]()
    try:
        ...
    finally:
        model._free()

Frames of more than 11 words are of the heap on some firmware: those of a usual run are smaller.
"""

import gc

from .errors import MpconnxrError

try:
    from _thread import allocate_lock
except ImportError:
    allocate_lock = None

_SAID = "the model is still computing, or another one in its arena: call it after that run"
_SPARE = MpconnxrError(_SAID)  # for a hard callback, which cannot allocate
_spans = []  # (first address, end, locks) of the arenas that callers gave


def _refuse():
    try:
        error = MpconnxrError(_SAID)
    except MemoryError:
        error = _SPARE
    raise error


begin = (_refuse, gc.isenabled)  # by whether the turn was taken: raises, or does nothing


class _Flag:
    """A lock for firmware without threads."""

    def __init__(self):
        self.is_held = False

    def acquire(self, waits):
        was_held = self.is_held
        self.is_held = True
        return not was_held

    def release(self):
        self.is_held = False


class _Several:
    """Locks that are taken together, or none of them."""

    def __init__(self, locks):
        self.locks = locks

    def acquire(self, waits):
        for i, lock in enumerate(self.locks):
            if not lock.acquire(False):
                for other in self.locks[:i]:
                    other.release()
                return False
        return True

    def release(self):
        for lock in self.locks:
            lock.release()


def lock():
    """Return a lock that nobody holds."""
    return (allocate_lock or _Flag)()


def give(model, arena=None, more=()):
    """Give a model its turn: that of the models whose arenas overlap its own, if there are any.

    arena: the buffer that the caller gave; more: locks that the model needs besides.
    """
    locks = _of_arena(arena, model.arena_nbytes) if arena is not None else []
    locks += more
    held = _Several(locks) if len(locks) > 1 else locks[0] if locks else lock()
    model._take, model._free = held.acquire, held.release


def _of_arena(arena, nbytes):
    first = _address(arena)
    end = first + nbytes
    locks = []
    for other_first, other_end, others in _spans:
        if first < other_end and other_first < end:
            locks += [each for each in others if each not in locks]
    locks = locks or [lock()]
    if (first, end, locks) not in _spans:
        _spans.append((first, end, locks))
    return locks[:]


def _address(arena):
    try:
        from uctypes import addressof
    except ImportError:  # all arenas count as one
        return 0
    return addressof(arena) if len(arena) else 0


def _filled(model, x, deadline_us):
    begin[model._take(False)]()
    try:
        model._fill(x)
        model._run()
    finally:
        model._free()


def _bare(model, x, deadline_us):
    begin[model._take(False)]()
    try:
        model._run()
    finally:
        model._free()


def _late(model, x, deadline_us):
    begin[model._take(False)]()
    try:
        from .timing import compute_until

        compute_until(model, x, deadline_us)
    finally:
        model._free()


# What Model.run does, by whether it has no deadline and no x: without a jump before the turn.
ways = ((_late, _late), (_filled, _bare))


def compute(model, x=None):
    """Do what Model.run does, for a caller that has taken the model's turn."""
    if x is not None:
        model._fill(x)
    model._run()
