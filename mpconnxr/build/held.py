"""Arguments that a table passes to loops as they are: lists of buffers, parts of blocks and loops.

Needed while a model is loaded, and dropped after it; see emission.
"""

_CHANGE = const(252)
_HOW = const(1)  # before the words that are known: see loops/table
_IS_ABSOLUTE = const(1)


class Part:
    """Words of a block, as a placeholder until the table is made."""

    def __init__(self, first, last):
        self.first, self.last = first, last

    def of(self, block):
        """Return the words of a block."""
        return block[self.first : len(block) if self.last is None else self.last]


def filled(thing, block, views):
    """Return the argument of a loop.

    A Part becomes words of the block; a kind becomes the next view, which is removed from views.
    """
    if isinstance(thing, list):
        return [filled(each, block, views) for each in thing]
    if isinstance(thing, Part):
        return thing.of(block)
    return views.pop(0) if _is_kind(thing) else thing


def kinds_of(thing, places):
    """Return a list with the kind of each place in it, and append the places to `places`."""
    if isinstance(thing, list):
        return [kinds_of(each, places) for each in thing]
    if isinstance(thing, tuple) and len(thing) == 2 and type(thing[0]) is int:
        places.append(thing)
        return thing[:1]
    return thing


def is_same(a, b):
    """Return True if one thing can be held in place of both, such as lists of the same loops."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all([is_same(a[i], b[i]) for i in range(len(a))])
    if isinstance(a, Part) and isinstance(b, Part):
        return (a.first, a.last) == (b.first, b.last)
    return a is b or _is_kind(a) and a == b


def _is_kind(thing):
    """Return True if a thing stands for a place: it is (kind,)."""
    return isinstance(thing, tuple) and len(thing) == 1


def view_numbers(places, known):
    """Return the number of each place (kind, place) of a list, among those of its kind.

    `known` has the places of each kind in other lists whose views lie as these do; this adds to
    it.
    """
    numbers = []
    for kind, place in places:
        result = known.setdefault(kind, [])
        if place not in result:
            result.append(place)
        numbers.append(result.index(place))
    return tuple(numbers)


def add_views(table, entry, buffers, numbers):
    """Add the views of an entry's lists to an Emission."""
    entry.listed = [table.view(b, n << 2 | 3) for b, n in zip(buffers, numbers)]
    views = sorted(set(entry.listed)) + [table.unused, table.unused]
    entry.more = []
    while len(views) > 2:
        entry.more.append(type(entry)(None, tuple(views[:3]), 0, 0, ()))
        views = views[3:]


def put(table, entry, number, places, p, listed):
    """Add a call of an entry with lists, or a change of its state, to an Emission: see its put."""
    if listed:
        of = {table.unused: 0}
        for word, buffer in zip(entry.listed, listed):
            of[word] = buffer[1]
        for three in entry.more:
            table.add(three, _CHANGE, *[of[word] for word in three.views], table.zero)
    if entry.unknown:
        marks = bytearray(len(table.marks))
        for position in entry.unknown:
            marks[entry.word + position] = table.marks[entry.word + position] = 1
        table.known[_HOW] = _IS_ABSOLUTE
        table.add(entry, _CHANGE, *places, p, marks)
        table.known[_HOW] = 0
    table.add(entry, number, *places, p)
    entry.unknown = table.left_by(entry) if entry.n else ()
