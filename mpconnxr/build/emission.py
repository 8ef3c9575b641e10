"""Turn the calls that kernels emit into a table of entries, words and code, see loops/program.

Calls of one loop with buffers of the same kinds share an *entry*, with a block of words. So a call
is the number of its entry, and the words that differ from the last call of that entry. A repeat is
its body, and the growth of words in a round of it.

Needed while a model is loaded, and dropped after it; the table that stays is in mpconnxr.model.
"""

from array import array

try:
    from uctypes import addressof
except ImportError:  # views are not retyped then
    pass

from .. import forms, tensor
from ..errors import UnsupportedError
from ..model import Table

_VIEWS = const(64)  # at most; words of so many come first
_CHANGE = const(252)
_END = const(255)
_MOST_ENTRIES = const(240)
_MANY_WORDS = const(1024)  # of a table: while it is made they are in memory twice
_OF_A_NUMBER = const(7)  # bytes of code, at most
_WORDS = const(8)  # before those of the views
# Before the words that are known: see loops/table
_AT = const(0)  # bytes of code
_HOW = const(1)
_IS_ABSOLUTE = const(1)
_REACH = const(1 << 24)  # of a view, in elements
NONE = (0, 0)  # a buffer that is not used


class Emission(forms.Board):
    """The calls that the kernels of a graph have emitted so far.

    Attributes:
        most_views: the largest number of views, whose words come before those of blocks.
        entries: list of Entry.
        kinds: the kind of each view: 256 times the number of its memory plus a struct code.
        first: the table's words as the first run finds them.
        known: the table's words after the calls so far.
        left: indices of words that a driver may change, by its held arguments: see Calls.drive.
    """

    def __init__(self, memories, most_views=_VIEWS):
        self.entries, self._numbers = [], {}
        self.kinds, self._views, self.most_views = [], {}, most_views
        self.unused = unused = _WORDS + most_views  # the word of a view that there is none of
        self.first, self.known = [zeros(unused + 1) for _ in range(2)]
        self.marks = bytearray(unused + 1)  # of words that change
        self.memories = memories
        self._code, self._codes, self._nbytes = bytearray(256), [], 0
        self._held, self._last, self.left = [], None, {}
        self._n = 0  # calls of the step at hand
        loops = forms.get("table")
        self._put, self._more = loops.put, loops.add
        self.zero = zeros(0)
        self.table = None

    def is_full(self):
        """Return True if the next node needs a new table: this one may lack space for it."""
        is_long = len(self.known) > _MANY_WORDS
        return is_long or len(self.kinds) > _VIEWS // 2 or len(self.entries) > _MOST_ENTRIES // 2

    def step(self):
        """Return (n, step) for the n calls since the last step(); (0, None) without any."""
        if not self._n:
            return 0, None
        self.table = self.table or Table()
        n, self._n = self._n, 0
        step = self.table.rest if self._nbytes else self.table.first
        self._take()
        return n, step

    def settle(self):
        """Make the table from all calls that were emitted.

        Each run begins with all words as the first run found them, however the run before it has
        ended.
        """
        if not self.table:
            return
        self._end()
        for e in self.entries:
            for position in self.left_by(e):
                self.marks[(e.owner or e).word + position] = 1
        first, self.known[_HOW] = memoryview(self.first), _IS_ABSOLUTE
        for e in self.entries:
            for each in e.each():
                places = [first[word] for word in each.views]
                self.add(each, _CHANGE, *places, first[each.word : each.word + each.n])
        self.table.reset = self._nbytes if self.known[_AT] else 0
        self._end()
        self._bind(b"".join(self._codes), first)

    def _end(self):
        """Add the code that ends a step."""
        self._room(1)
        self._code[self.known[_AT]] = _END
        self.known[_AT] += 1
        self._take()

    def _take(self):
        """Move the code emitted so far to the codes of the steps, and begin with none."""
        at = self.known[_AT]
        self._codes.append(bytes(memoryview(self._code)[:at]))
        self._nbytes += at
        self.known[_AT] = 0

    def _bind(self, code, words):
        """Make the runner's argument from the code and the first words: see loops/program."""
        loops, table = forms.get("program"), self.table
        words[2] = self.most_views
        views = [self._made(kind) for kind in self.kinds]
        entries = []
        for e in self.entries:
            used = [views[i - _WORDS] for i in e.views if i < self.unused] or [0]
            # A call takes less time with any view than with a number.
            used_views = [views[i - _WORDS] if i < self.unused else used[0] for i in e.views]
            block = words[e.word : e.word + e.n]
            if e.kinds:
                from .held import filled

                block = e.owner.block(words) if e.owner else block
                listed = [views[i - _WORDS] for i in e.listed]
                for i in range(3):
                    if e.kinds[i] < 0:
                        used_views[i] = filled(self._held[-1 - e.kinds[i]], block, listed)
            x, w, out = used_views
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
            from ..structview import run

            table.run = run

    def _made(self, kind):
        """Return a view of the memory and the struct code of a kind, from the memory's start."""
        _, memory, is_loose, origin = self.memories.spans[kind >> 8]
        code = chr(kind & 255)
        if not tensor.RETYPES:
            from ..structview import Moving

            return Moving(memory, code, origin)
        view = tensor.view(memory, 0, code, len(memory) // tensor.struct.calcsize(code))
        if is_loose:
            tensor.words(view)[2] = _REACH
        return view

    # Entries

    def _entry(self, loop, buffers, p, nth=0, numbers=(0, 0, 0), listed=()):
        """Return the Entry for a call, which may be one of an earlier call.

        A new entry starts with this call's block, and a new view at this call's buffer.

        Args:
            loop: the loop.
            buffers: (kind, place) of x, w and out, then of the buffers in lists.
            p: block; if it is empty, the entry shares the block of the call before.
            nth: index of the call in a repeat: calls of one repeat share no entry.
            numbers: tell the views of x, w and out apart from others of their kinds.
            listed: the same numbers for the buffers in lists.
        """
        x, w, out = buffers[:3]
        key = loop, len(p) or self._last, x[0], w[0], out[0], nth, numbers, listed
        entry = self._numbers.get(key)
        if entry is None:
            if len(self.entries) == _MOST_ENTRIES:
                raise UnsupportedError("more kinds of calls than a table has")
            views = (
                self.view(x, numbers[0] << 2),
                self.view(w, numbers[1] << 2 | 1),
                self.view(out, numbers[2] << 2 | 2),
            )
            entry = Entry(loop, views, len(self.entries), len(self.known), p)
            if self._held or not entry.n:
                entry.kinds = x[0], w[0], out[0]
                entry.owner = None if entry.n else self._last
            if listed:
                from .held import add_views

                add_views(self, entry, buffers[3:], listed)
            self._numbers[key] = entry
            self.entries.append(entry)
            self.known.extend(p)
            self.first.extend(p)
            self.marks.extend(bytes(len(p)))
        if entry.n:
            self._last = entry
        return entry

    def view(self, buffer, which):
        """Return the word of the view for a buffer, which is (kind, place).

        `which` tells the views of its kind apart: 4 times a number, plus the index of the
        argument, or 3 for a buffer in a list.
        """
        if buffer[0] <= 0:  # no buffer, or one that is held
            return self.unused
        key = buffer[0], which
        if key not in self._views:
            if len(self.kinds) == self.most_views:
                raise UnsupportedError("more kinds of buffers than a table has")
            self._views[key] = word = _WORDS + len(self.kinds)
            self.kinds.append(buffer[0])
            self.first[word] = self.known[word] = buffer[1]
        return self._views[key]

    def put(self, entry, number, places, p, listed=()):
        """Add a call of an entry to the code, or a change of the entry's state without a call.

        Args:
            entry: the Entry; its state includes its lists, and words that its last call may have
                set.
            number: the entry's number for a call, _CHANGE for a change.
            places: places of x, w and out.
            p: the block.
            listed: (kind, place) of the buffers in lists.
        """
        if entry.kinds:
            from .held import put

            put(self, entry, number, places, p, listed)
        else:
            self.add(entry, number, *places, p)

    def left_by(self, entry):
        """Return the indices of words that a call of an entry may change: see Calls.drive."""
        return self.left.get(entry.kinds[1:], ()) if entry.kinds else ()

    # Code

    def _room(self, n):
        """Enlarge the code so that n more numbers fit."""
        at = self.known[_AT]
        if at + 16 + _OF_A_NUMBER * n > len(self._code):
            code = bytearray(2 * at + 16 + _OF_A_NUMBER * n)
            code[:at] = self._code[:at]
            self._code = code

    def add(self, entry, number, x, w, out, p, marks=None):
        """Add a call of an entry to the code, or a change (number _CHANGE) of places and block.

        Args:
            entry: the Entry.
            number: the entry's number, or _CHANGE.
            x: place of the first buffer.
            w: place of the second buffer.
            out: place of the output.
            p: the block.
            marks: one byte for each word, 1 if absolute code must set it.
        """
        if self.known[_AT] + _OF_A_NUMBER * (entry.n + 6) > len(self._code):
            self._room(entry.n + 3)
        head = entry.head
        i, j, k = entry.order
        head[0], head[i], head[j], head[k] = number, x, w, out
        self._put(self._code, self.known, head, p, marks or self.marks)


class Entry:
    """A loop with the words of its three views, and n words of its block from `word` on.

    Attributes:
        head: argument of loops/table's put.
        order: for each buffer the index of its place in head.
        kinds: kinds of the buffers, if some of them may be held.
        owner: the entry whose block this one shares, or None.
        listed: words of the views in lists.
        more: entries with the views in lists, three views each.
        unknown: indices of words that its last call may have changed.
    """

    kinds = owner = None
    listed = more = unknown = ()

    def __init__(self, loop, views, number, word, p):
        self.loop, self.views, self.number, self.word, self.n = loop, views, number, word, len(p)
        x, w, out = sorted(views)
        self.head = array("i", (number, word, self.n, x, w, out, 0, 0, 0))
        self.order = 6, 7, 8
        if not views[0] <= views[1] <= views[2]:
            by_word = sorted([(views[i], i) for i in range(3)])
            self.order = [6 + by_word.index((views[i], i)) for i in range(3)]

    def block(self, words):
        """Return the entry's block, a part of the table's words."""
        return words[self.word : self.word + self.n]

    def each(self):
        """Return this entry and `more`, the entries with the other views of its call."""
        return [self] + list(self.more)


def zeros(n):
    """Return an array of n zero words."""
    return array("i", [0] * n)
