"""Where a program's parameters lie on a board, and which calls are the same but for these.

A *view* is a memoryview whose place is changed from call to call. A *slot* is the words of a
block of parameters; steps of one kind share it. An *entry* is a loop with its arguments: views,
parts of slots, tables, other loops. What is left of a call is the number of its entry, and the
words that differ from those that are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .call import (
    UNKNOWN,
    Argument,
    Call,
    CannotRecord,
    Loop,
    Part,
    Place,
    Read,
    Recording,
    Step,
    Table,
)


@dataclass(frozen=True)
class View:
    """One of the views of a memory with this struct code."""

    memory: str
    code: str
    number: int


@dataclass(frozen=True)
class Slice:
    """Words of a slot."""

    slot: int
    first: int
    last: int


@dataclass(frozen=True)
class Entry:
    """A loop with its arguments, which calls of a program share."""

    loop: Loop
    arguments: tuple[Any, ...]  # View, Slice, Table, Loop, or a tuple of such


@dataclass(frozen=True)
class Made:
    """A call: its entry, the item at which each of its views begins, the words of its slots, and
    which of these a loop has written when it returns.
    """

    entry: Entry
    views: dict[View, int]
    slots: dict[int, list[Any]]
    changed: dict[int, list[int]]
    owner: dict[int, tuple[int, int]]  # of each slot: the step and its block


class Layout:
    """Of a recording. entries, views: in the order of their numbers; slots: their lengths."""

    def __init__(self, recording: Recording):
        self.entries: dict[Entry, int] = {}
        self.views: dict[View, int] = {}
        self.slots: list[int] = []
        self._slots: dict[Any, int] = {}
        self.steps: list[list[Made | Read]] = []
        for number, step in enumerate(recording.steps):
            slots = self._slots_of(step)
            calls = [self._made(call, slots, number) for call in step.calls]
            self.steps.append(calls)

    def _slots_of(self, step: Step) -> dict[int, int]:
        """The slot of each block of a step that lasts from call to call."""
        calls = [call for call in step.calls if isinstance(call, Call)]
        lasting = {b for c in calls for b, words in c.words.items() if _has_unknown(words)}
        found, counts = {}, {}
        for block in sorted(lasting):
            uses = [(c.loop, where) for c in calls for where in _parts(c.arguments, block)]
            size = next(len(c.words[block]) for c in calls if block in c.words)
            key = size, tuple(sorted(set(uses), key=repr))
            counts[key] = counts.get(key, 0) + 1
            found[block] = self._slot((key, counts[key]), size)
        return found

    def _slot(self, key: Any, size: int) -> int:
        if key not in self._slots:
            self._slots[key] = len(self.slots)
            self.slots.append(size)
        return self._slots[key]

    def _made(self, call: Call | Read, lasting: dict[int, int], step: int) -> Made | Read:
        if isinstance(call, Read):
            return call
        slots: dict[int, int] = {}
        for block, words in call.words.items():
            key = call.loop, len(words), tuple(_parts(call.arguments, block))
            slots[block] = lasting[block] if block in lasting else self._slot(key, len(words))
        if len(set(slots.values())) < len(slots):
            raise CannotRecord(f"{call.loop.family}: two blocks of one place")
        views: dict[View, int] = {}
        arguments = tuple(self._argument(a, slots, views) for a in call.arguments)
        entry = Entry(call.loop, arguments)
        self.entries.setdefault(entry, len(self.entries))
        for view in views:
            self.views.setdefault(view, len(self.views))
        words = {slots[b]: call.words[b] for b in slots}
        changed = {slots[b]: call.changed[b] for b in slots}
        return Made(entry, views, words, changed, {slots[b]: (step, b) for b in slots})

    def _argument(self, a: Argument, slots: dict[int, int], views: dict[View, int]) -> Any:
        if isinstance(a, Part):
            return Slice(slots[a.block], a.first, a.last)
        if isinstance(a, Place):
            return _view(a, views)
        if isinstance(a, tuple):
            return tuple(self._argument(each, slots, views) for each in a)
        return a

    def tables(self) -> list[Table]:
        """Those of all entries, each once."""
        found = [a for entry in self.entries for a in _leaves(entry.arguments)]
        return list(dict.fromkeys(a for a in found if isinstance(a, Table)))

    def loops(self) -> list[Loop]:
        """Those that the entries call or hand to others, each once."""
        found = [a for e in self.entries for a in (e.loop, *_leaves(e.arguments))]
        return list(dict.fromkeys(a for a in found if isinstance(a, Loop)))


def _view(place: Place, views: dict[View, int]) -> View:
    """A view for a place: one that has it in this call already, or the next of its kind."""
    import struct

    first, rest = divmod(place.offset, struct.calcsize(place.code))
    if rest:
        raise CannotRecord("a tensor that is not aligned")
    same = [v for v in views if (v.memory, v.code) == (place.memory, place.code)]
    for view in same:
        if views[view] == first:
            return view
    view = View(place.memory, place.code, len(same))
    views[view] = first
    return view


def _leaves(arguments: tuple) -> Iterator[Any]:
    for a in arguments:
        if isinstance(a, tuple):
            yield from _leaves(a)
        else:
            yield a


def _parts(arguments: tuple, block: int, where: tuple = ()) -> Iterator[tuple]:
    """Where a block is among the arguments, and which of its words."""
    for i, a in enumerate(arguments):
        if isinstance(a, Part) and a.block == block:
            yield (*where, i, a.first, a.last)
        elif isinstance(a, tuple):
            yield from _parts(a, block, (*where, i))


def _has_unknown(words: list[Any]) -> bool:
    return any(w is UNKNOWN for w in words)
