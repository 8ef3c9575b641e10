"""Turns of models that share an arena of the caller's, or the second core.

Models import it at load if the caller gives an arena, or if they run on two cores.
"""

from .turn import lock, turn

_spans = []  # (first address, end, locks) of the arenas that callers gave


class _Several:
    """Several locks as one: acquire takes all of them or none."""

    def __init__(self, locks):
        self.locks = locks

    def acquire(self, waits):
        for i, each in enumerate(self.locks):
            if not each.acquire(False):
                for other in self.locks[:i]:
                    other.release()
                return False
        return True

    def release(self):
        for each in self.locks:
            each.release()


def give(model, arena, more=()):
    """Give a model a turn that it shares with all models whose arenas overlap its arena.

    arena: the caller's arena, or None; more: further locks that the model needs.
    """
    locks = _of_arena(arena, model.arena_nbytes) if arena is not None else []
    locks += more
    model._take, model._free = turn(_Several(locks) if len(locks) > 1 else locks[0])


def _of_arena(arena, nbytes):
    """Return the locks of an arena; overlapping arenas share theirs."""
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
