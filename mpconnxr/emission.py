"""How the calls that kernels emit become a table: entries, words and code, see loops/program.

Calls of one loop with buffers of the same kinds share an *entry*, with a block of words. So a call
is the number of its entry, and what differs from the last call of that entry. Of a repeat there is
its body, and by how much words grow in a round of it.

This module is needed while a model is loaded, and let go of after it; what stays is in model.
"""

from array import array

try:
    from uctypes import addressof
except ImportError:  # views are not retyped then
    pass

from . import forms, tensor
from .errors import UnsupportedError
from .model import Table

_VIEWS = const(64)  # at most; words of so many come first
_CHANGE = const(252)
_END = const(255)
_MOST_ENTRIES = const(240)
_MANY_WORDS = const(1024)  # of a table: while it is made they are in memory twice
_OF_A_NUMBER = const(7)  # bytes of code, at most
_WORDS = const(8)  # before those of the views
_UNUSED = _WORDS + _VIEWS  # the word of a view that there is none of
# Before the words that are known: see loops/table
_AT = const(0)  # bytes of code
_HOW = const(1)
_IS_ABSOLUTE = const(1)
_REACH = const(1 << 24)  # of a view, in items
NONE = (0, 0)  # a buffer that is not used


class Emission(forms.Board):
    """What the kernels of a graph have emitted so far.

    entries: list of Entry; kinds: of the views, 256 times the number of a memory plus a struct
    code; first, known: the table's words at first, and by now; left: see Calls.drive.
    """

    def __init__(self, memories):
        self.entries, self._numbers = [], {}
        self.kinds, self._views = [], {}
        self.first, self.known = [zeros(_UNUSED + 1) for _ in range(2)]
        self._marks = bytearray(_UNUSED + 1)  # of words that change
        self.memories = memories
        self._code, self._codes, self._nbytes = bytearray(256), [], 0
        self._held, self._last, self.left = [], None, {}
        self._n = 0  # calls of the step at hand
        loops = forms.get("table")
        self._put, self._more = loops.put, loops.add
        self._zero = zeros(0)
        self.table = None

    def is_full(self):
        """Return whether another table is to be begun, as a node may need more than is left."""
        is_long = len(self.known) > _MANY_WORDS
        return is_long or len(self.kinds) > _VIEWS // 2 or len(self.entries) > _MOST_ENTRIES // 2

    def step(self):
        """Return (n, step) of what was emitted since the last time; (0, None) of nothing."""
        if not self._n:
            return 0, None
        self.table = self.table or Table()
        n, self._n = self._n, 0
        step = self.table.rest if self._nbytes else self.table.first
        self._take()
        return n, step

    def settle(self):
        """Make the table. A run begins with all words as the first one found them, however the one
        before it has ended.
        """
        if not self.table:
            return
        self._end()
        for e in self.entries:
            for position in self.left.get(e.kinds[1], ()) if e.kinds else ():
                self._marks[(e.owner or e).word + position] = 1
        first, self.known[_HOW] = memoryview(self.first), _IS_ABSOLUTE
        for e in self.entries:
            places = [first[word] for word in e.views]
            self._add(e, _CHANGE, *places, first[e.word : e.word + e.n])
        self.table.reset = self._nbytes if self.known[_AT] else 0
        self._end()
        self._bind(b"".join(self._codes), first)

    def _end(self):
        """End the code, for whatever comes next."""
        self._room(1)
        self._code[self.known[_AT]] = _END
        self.known[_AT] += 1
        self._take()

    def _take(self):
        """Keep the code that was emitted, and begin anew."""
        at = self.known[_AT]
        self._codes.append(bytes(memoryview(self._code)[:at]))
        self._nbytes += at
        self.known[_AT] = 0

    def _bind(self, code, words):
        """Make what the runner takes: see loops/program."""
        loops, table = forms.get("program"), self.table
        words[2] = _VIEWS
        views = [self._made(kind) for kind in self.kinds]
        entries = []
        for e in self.entries:
            used = [views[i - _WORDS] for i in e.views if i < _UNUSED] or [0]
            # A call takes less time with any view than with a number.
            x, w, out = [views[i - _WORDS] if i < _UNUSED else used[0] for i in e.views]
            block = words[e.word : e.word + e.n]
            if e.kinds:
                block = e.owner.block(words) if e.owner else block
                x, w, out = self._filled(e.kinds, (x, w, out), block)
            entries.append((e.loop, x, w, out, block))
        how = getattr(loops, "HOW", 0)
        for i in range(len(views)):
            place = words[_WORDS + i]
            if tensor.RETYPES:
                shown = tensor.place_words(views[i])
                shown[1] = place & 0xFFFFFF00 | shown[1] & 255
                words[_WORDS + i] = tensor.address(views[i])
            else:
                views[i][1] = place
        if how:
            what = code, words, tensor.shown(views, how) if tensor.RETYPES else views
        else:
            what = addressof(code), addressof(words), None
        table.what = code, words, (tuple(entries), loops.advance) + what
        table.words, table.run = words, loops.run
        table.held = self.memories.buffers  # which views of a part, or of others, do not hold
        if not tensor.RETYPES:
            from .structview import run

            table.run = run

    def _filled(self, kinds, views, block):
        """Return the arguments of an entry of which some are held. views: of the others."""
        found = [self._held[-1 - k] if k < 0 else view for k, view in zip(kinds, views)]
        for i in range(3):
            found[i] = with_parts(found[i], block)
        return found

    def _made(self, kind):
        """Return a view of a memory, from its start."""
        _, memory, is_loose, origin = self.memories.found[kind >> 8]
        code = chr(kind & 255)
        if not tensor.RETYPES:
            from .structview import Moving

            return Moving(memory, code, origin)
        view = tensor.view(memory, 0, code, len(memory) // tensor.struct.calcsize(code))
        if is_loose:
            tensor.words(view)[2] = _REACH
        return view

    # Entries

    def _entry(self, loop, x, w, out, p, nth=0, numbers=(0, 0, 0)):
        """Return the Entry of such calls. A new one, or a new view, begins with what is given.

        p: without words, the entry has the block of the call before; nth: of the calls in one
        repeat, which share no entry; numbers: of the views of x, w, out that such a call has.
        """
        key = loop, len(p) or self._last, x[0], w[0], out[0], nth, numbers
        entry = self._numbers.get(key)
        if entry is None:
            if len(self.entries) == _MOST_ENTRIES:
                raise UnsupportedError("more kinds of calls than a table has")
            views = (
                self._view(x, numbers[0] << 2),
                self._view(w, numbers[1] << 2 | 1),
                self._view(out, numbers[2] << 2 | 2),
            )
            entry = Entry(loop, views, len(self.entries), len(self.known), p)
            if self._held or not entry.n:
                entry.kinds = x[0], w[0], out[0]
                entry.owner = None if entry.n else self._last
            self._numbers[key] = entry
            self.entries.append(entry)
            self.known.extend(p)
            self.first.extend(p)
            self._marks.extend(bytes(len(p)))
        if entry.n:
            self._last = entry
        return entry

    def _view(self, buffer, which):
        """Return the word of a buffer's view. which: its number, times 4 plus the argument's."""
        if buffer[0] <= 0:  # there is none, or one that is held
            return _UNUSED
        key = buffer[0], which
        if key not in self._views:
            if len(self.kinds) == _VIEWS:
                raise UnsupportedError("more kinds of buffers than a table has")
            self._views[key] = word = _WORDS + len(self.kinds)
            self.kinds.append(buffer[0])
            self.first[word] = self.known[word] = buffer[1]
        return self._views[key]

    # Code

    def _room(self, n):
        """Make room for so many numbers."""
        at = self.known[_AT]
        if at + 16 + _OF_A_NUMBER * n > len(self._code):
            code = bytearray(2 * at + 16 + _OF_A_NUMBER * n)
            code[:at] = self._code[:at]
            self._code = code

    def _add(self, entry, number, x, w, out, p):
        """Add a call of an entry, or a change of what it has."""
        if self.known[_AT] + _OF_A_NUMBER * (entry.n + 6) > len(self._code):
            self._room(entry.n + 3)
        head = entry.head
        i, j, k = entry.order
        head[0], head[i], head[j], head[k] = number, x, w, out
        self._put(self._code, self.known, head, p, self._marks)


class Part:
    """Words of a block, which is there when the table is."""

    def __init__(self, first, last):
        self.first, self.last = first, last

    def of(self, block):
        """Return the words."""
        return block[self.first : len(block) if self.last is None else self.last]


def with_parts(thing, block):
    """Return what a loop takes, with words of its block in place of each Part."""
    if isinstance(thing, list):
        return [with_parts(each, block) for each in thing]
    return thing.of(block) if isinstance(thing, Part) else thing


class Entry:
    """A loop, the words of its views, and the n words of its block, from a word on.

    head: what put of loops/table takes of it; order: where in that the buffers' places are; kinds:
    of its buffers, if some may be held; owner: the entry whose block it has, if not its own.
    """

    kinds = owner = None

    def __init__(self, loop, views, number, word, p):
        self.loop, self.views, self.number, self.word, self.n = loop, views, number, word, len(p)
        x, w, out = sorted(views)
        self.head = array("i", (number, word, self.n, x, w, out, 0, 0, 0))
        self.order = 6, 7, 8
        if not views[0] <= views[1] <= views[2]:
            by_word = sorted([(views[i], i) for i in range(3)])
            self.order = [6 + by_word.index((views[i], i)) for i in range(3)]

    def block(self, words):
        """Return its block, of the words of the table."""
        return words[self.word : self.word + self.n]


def zeros(n):
    """Return n words."""
    return array("i", [0] * n)
