"""Repeats of calls: find what grows from round to round, and emit it as code. See loops/program.

A repeat is its body, the growth of words and places in a round, and a counter. Needed while a
model is loaded, and dropped after it.
"""

from array import array

from ..errors import UnsupportedError
from .emission import NONE, Emission, zeros

_CHANGE = const(252)
_REPEAT = const(254)
_MOST_SITES = const(24)  # calls in repeats: each has a block of its own
_FEW_SITES = const(8)  # each has views of its own
_MOST_VIEWS = const(24)  # of more sites
_MOST_BYTES = const(65535)  # of the calls of a round
# Before the words that are known: see loops/table
_AT = const(0)  # bytes of code
_HOW = const(1)
_IS_MORE = const(2)
_N = const(3)
_FACTOR = const(4)
_WORD = const(5)  # of a
_IS_ANY = const(6)


class Repeats(Emission):
    """An Emission that also takes calls in repeats, as Calls.repeat describes them."""

    def __init__(self, memories, *most_views):
        super().__init__(memories, *most_views)
        self._levels, self._round = [], 0

    def _in_repeat(self, loop, buffers, p):
        """Note a call in a repeat: its arguments in round 0, how they grow in round 1."""
        level, depth = self._levels[-1], self._round - 1
        if depth < 0:
            level.members.append(Site(loop, buffers, p, level.counts))
            return
        site = level.next()
        if self._sum(p, site.p, -1):
            site.steps[depth] = p
        if buffers != site.buffers:
            if buffers[3:] != site.buffers[3:]:
                raise ValueError("a buffer in a list moves in a repeat")
            for i in range(3):
                site.grow(i, depth, buffers[i][1] - site.buffers[i][1])

    def _sum(self, a, b, factor):
        """Add factor * b to a, word by word; return True if any word of a is not zero then."""
        state = self.known
        state[_N], state[_FACTOR] = len(b), factor
        self._more(a, b, state)
        return state[_IS_ANY]

    def _emit(self, level):
        """Emit an outermost repeat, once its rounds 0 and 1 are known."""
        sites = level.sites()
        numbers = None
        if len(sites) > _FEW_SITES:
            numbers = _view_numbers(sites) if len(sites) <= _MOST_SITES else None
            if numbers is None:
                return self._unroll(level, ())
        known = {}  # the places of each kind in lists
        for nth, site in enumerate(sites):
            # Before the first round words are what that adds to.
            self._spread(site)
            site.settle()
            buffers, places = site.buffers, site.before
            views = numbers[nth] if numbers else (nth, nth, nth)
            if site.moves:
                moved = [(b[0], n) if b is not NONE else b for b, n in zip(buffers, places)]
                buffers = tuple(moved) + buffers[3:]
            listed = buffers[3:]
            if listed:
                from .held import view_numbers

                of_list = view_numbers(listed, known)
            else:
                of_list = ()
            site.entry = entry = self._entry(site.loop, buffers, site.p, nth, views, of_list)
            self.put(entry, _CHANGE, places, site.p, listed)
            rounds = 1
            for step, n in zip(site.steps, site.counts):
                rounds *= n
                if step:
                    self.known[_WORD] = entry.word
                    self._sum(self.known, step, rounds)
                    self.known[_WORD] = 0
            if site.moves:
                for word, place in zip(entry.views, site.after):
                    self.known[word] = place
        if level.members:
            self._body(level, 0, 1)

    def _unroll(self, level, outer):
        """Emit each round of a repeat by itself. outer: the numbers of the rounds around it."""
        for i in range(level.n):
            rounds = outer + (i,)
            for member in level.members:
                if isinstance(member, Level):
                    self._unroll(member, rounds)
                    continue
                p, buffers = array("i", member.p), list(member.buffers)
                for step, n in zip(member.steps, rounds):
                    if step:
                        self._sum(p, step, n)
                for k in range(3 if member.moves else 0):
                    if buffers[k] is not NONE:
                        place = buffers[k][1]
                        for move, n in zip(member.moves[k], rounds):
                            place += n * move
                        buffers[k] = buffers[k][0], _word(place)
                self.call_with(member.loop, tuple(buffers), p)

    def _spread(self, site):
        """Turn a site's differences between rounds into the growth of each level.

        Afterwards site.steps has that growth, and site.p the words before the first round.
        """
        first, steps = site.p, site.steps
        for i in range(1, len(steps)):
            if steps[i]:  # a round of an outer repeat begins where all rounds of this one end
                before = steps[i - 1] or zeros(len(first))
                steps[i - 1] = before if self._sum(before, steps[i], -site.counts[i]) else None
        for step in steps:
            if step:
                self._sum(first, step, -1)

    def _body(self, level, depth, rounds):
        """Add the body of a repeat to the code, and the code that repeats it.

        Args:
            level: the repeat.
            depth: number of repeats around it.
            rounds: how often its body begins in a run.
        """
        start = self.known[_AT]
        rounds *= level.n
        for member in level.members:
            if isinstance(member, Level):
                for site in member.sites():
                    self._grow(site, _CHANGE, depth)
                self._body(member, depth + 1, rounds)
            else:
                self._grow(member, member.entry.number, depth)
                self._n += rounds
        self._room(1)
        at = self.known[_AT]
        back, more = at - start, level.n - 1
        if back > _MOST_BYTES:
            raise UnsupportedError("more calls than a repeat has")
        if back:
            repeat = bytes((_REPEAT, depth, back & 255, back >> 8, more & 255, more >> 8))
            self._code[at : at + 6] = repeat
            self.known[_AT] = at + 6

    def _grow(self, site, number, depth):
        """Add a call of a site, or a change of its state, that adds the growth at a level.

        Args:
            site: the Site.
            number: the number of its entry, or _CHANGE.
            depth: the level.
        """
        step = site.steps[depth]
        if step is None:
            while len(self.zero) < site.entry.n:
                self.zero.append(0)
            step = self.zero
        x = w = out = 0
        if site.moves:
            x, w, out = site.added[depth]
        self.known[_HOW] = _IS_MORE
        self.add(site.entry, number, x, w, out, step)
        self.known[_HOW] = 0


class Level:
    """A repeat of n rounds.

    Attributes:
        members: the calls and repeats in its body, in their order.
        counts: rounds of the repeats around it, and its own.
    """

    def __init__(self, n, outer):
        self.n, self.counts, self.members, self._cursor = n, outer + (n,), [], 0

    def next(self):
        """Return the member after the last returned one; the first one follows the last."""
        member = self.members[self._cursor]
        self._cursor = (self._cursor + 1) % len(self.members)
        return member

    def sites(self):
        """Return the calls in the body, with those of inner repeats."""
        result = []
        for member in self.members:
            result += member.sites() if isinstance(member, Level) else [member]
        return result


class Site:
    """A call in one or more repeats.

    Attributes:
        counts: rounds of the repeats around it, the outermost first.
        buffers, p: its arguments in round 0.
        steps: growth of p in a round of each repeat; None without growth.
        moves: growth of the places of x, w and out in a round of each repeat; None if none moves.
    """

    moves = None

    def __init__(self, loop, buffers, p, counts):
        self.loop, self.buffers, self.p, self.counts = loop, buffers, p, counts
        self.steps = [None] * len(counts)

    def grow(self, i, depth, n):
        """Set by how much the place of buffer i grows in a round of the repeat at this depth."""
        self.moves = self.moves or [[0] * len(self.steps) for _ in range(3)]
        self.moves[i][depth] = n

    def settle(self):
        """Compute where the buffers are before, after and between rounds.

        before: their places before the first round; after: in the last round; added: for each
        level the growth of each place in a round.
        """
        self.before = [buffer[1] for buffer in self.buffers[:3]]
        if self.moves:  # apart: a frame of more than 11 words is of the heap, and takes longer
            self._settle()

    def _settle(self):
        """Compute `before`, `after` and `added` for a site whose buffers move."""
        counts, self.after = self.counts, self.before[:]
        self.added = [[0] * 3 for _ in counts]
        for i in range(3):
            before = after = self.before[i]
            inner, depth = 0, len(counts)  # inner: what all rounds of the level within add
            while depth:
                depth -= 1
                move = self.moves[i][depth]
                if move or inner:
                    self.added[depth][i] = _word(move - inner)
                    before -= move - inner
                    inner = counts[depth] * move
                    after += inner - move
            self.before[i], self.after[i] = _word(before), _word(after)


def _view_numbers(sites):
    """Return numbers that tell the views of each site apart; None if they need too many views.

    Two sites share a view if it starts at the same place for both and moves for neither.
    """
    known, made = {}, []
    for site in sites:
        numbers = []
        for i in range(3):
            kind, place = site.buffers[i][:2]
            result = known.setdefault((kind, i), [])
            if site.moves or place not in result:
                result.append(None if site.moves else place)
                numbers.append(len(result) - 1)
            else:
                numbers.append(result.index(place))
        made.append(tuple(numbers))
    n = sum([len(result) for (kind, _), result in known.items() if kind > 0])
    return made if n <= _MOST_VIEWS else None


def _word(value):
    """Return a number as an int32, modulo 2**32."""
    return (value + 0x80000000 & 0xFFFFFFFF) - 0x80000000
