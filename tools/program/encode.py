"""A program's calls as bytes: see mpconnxr/loops/program for what reads them.

A call is the number of its entry, then what changes: the places of views and words of slots,
numbered through, as runs of numbers that are added to what is there (or replace it, where a loop
may have written). So calls whose parameters grow by constants are the same bytes, and stand there
once, with a count.
"""

from __future__ import annotations

from .call import UNKNOWN, CannotRecord, Read
from .layout import Layout, Made

END, REPEAT, READ = 255, 254, 253
MOST_ENTRIES = 240
LEVELS = 2  # of repeats inside of repeats
_LONGEST = 64  # calls that are repeated together
_WORD = 1 << 32


def encode(layout: Layout) -> bytes:
    """The calls of a run, to its end. Raises CannotRecord."""
    if len(layout.entries) > MOST_ENTRIES:
        raise CannotRecord(f"{len(layout.entries)} kinds of calls")
    for entry in layout.entries:
        if len(entry.arguments) not in (2, 4):
            raise CannotRecord(f"{entry.loop.family} takes {len(entry.arguments)} arguments")
    writer = _Writer(layout)
    calls = [writer.call(call) for step in layout.steps for call in step]
    for level in range(LEVELS):
        calls = _repeated(calls, level)
    return b"".join(calls) + bytes([END])


class _Writer:
    """Knows what is in each view and word while the program runs."""

    def __init__(self, layout: Layout):
        self._layout = layout
        self._first = [len(layout.views)]
        for size in layout.slots:
            self._first.append(self._first[-1] + size)
        self._known: list[int | None] = [None] * self._first[-1]
        self._owner: list[tuple[int, int] | None] = [None] * self._first[-1]

    def call(self, call: Made | Read) -> bytes:
        if isinstance(call, Read):
            return bytes([READ]) + call.chunk.to_bytes(2, "little")
        changes: dict[int, tuple[int, bool]] = {}
        for view, item in call.views.items():
            self._set(changes, self._layout.views[view], item << 8)
        for slot, words in call.slots.items():
            for i, word in enumerate(words):
                self._word(changes, self._first[slot] + i, word, call.owner[slot])
        for slot, words in call.changed.items():
            for i in words:
                self._known[self._first[slot] + i] = None
        return bytes([self._layout.entries[call.entry]]) + _runs(changes)

    def _word(self, changes: dict, at: int, word: int, owner: tuple[int, int]) -> None:
        if word is not UNKNOWN:
            self._set(changes, at, word)
        elif self._owner[at] not in (None, owner):
            raise CannotRecord("a word of a loop's was overwritten")
        else:
            self._known[at] = None
        self._owner[at] = owner

    def _set(self, changes: dict, at: int, value: int) -> None:
        known = self._known[at]
        if known is None:
            changes[at] = value, True
        elif known != value:
            changes[at] = value - known, False
        self._known[at] = value


def _runs(changes: dict[int, tuple[int, bool]]) -> bytes:
    """(how many to skip, how many follow) in a byte, these numbers, and so on; 0 is the end."""
    made, at = bytearray(), 0
    places = sorted(changes)
    while places:
        run = 1
        while run < min(15, len(places)) and places[run] == places[0] + run:
            run += 1
        skip = places[0] - at
        while skip > 15:
            made.append(15 << 4)
            skip -= 15
        made.append(skip << 4 | run)
        for place in places[:run]:
            made += _number(*changes[place])
        at = places[run - 1] + 1
        places = places[run:]
    return bytes(made) + b"\0"


def _number(value: int, is_absolute: bool) -> bytes:
    """Seven bits a byte, the lowest first; the first bit of all: it replaces what is there, the
    second: it is negative.
    """
    value = (value + _WORD // 2) % _WORD - _WORD // 2
    bits = (value << 1 if value >= 0 else (-value << 1) - 1) << 1 | is_absolute
    made = bytearray()
    while bits > 127:
        made.append(bits & 127 | 128)
        bits >>= 7
    return bytes([*made, bits])


def _repeated(calls: list[bytes], level: int) -> list[bytes]:
    """The same with what repeats written once, followed by how often."""
    made: list[bytes] = []
    i = 0
    while i < len(calls):
        saved, period, count = max(_repeats(calls, i), default=(0, 1, 1))
        body = b"".join(calls[i : i + period])
        if saved > 0:
            tail = bytes([REPEAT, level]) + len(body).to_bytes(2, "little")
            made.append(body + tail + (count - 1).to_bytes(2, "little"))
            i += period * count
        else:
            made.append(calls[i])
            i += 1
    return made


def _repeats(calls: list[bytes], i: int) -> list[tuple[int, int, int]]:
    """(bytes saved, period, count) of what repeats from call i on."""
    found = []
    for period in range(1, min(_LONGEST, (len(calls) - i) // 2) + 1):
        if calls[i] != calls[i + period]:
            continue
        count, body = 1, calls[i : i + period]
        while calls[i + count * period : i + (count + 1) * period] == body and count < 1 << 16:
            count += 1
        nbytes = sum(map(len, body))
        if count > 1 and nbytes < 1 << 16:
            found.append(((count - 1) * nbytes - 6, period, count))
    return found
