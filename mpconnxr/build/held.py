"""Arguments of loops that are not single buffers: lists of buffers and loops, and parts of blocks.

A driver, a loop that calls other loops, takes them in its argument w. A table keeps such a list
once; its buffers are views, which the runner sets before a call. Needed while a model is loaded,
and dropped after it; see emission.
"""

_CHANGE = const(252)
_HOW = const(1)  # before the words that are known: see loops/table
_IS_ABSOLUTE = const(1)


class Part:
    """Words first to last - 1 of a call's parameter block, as an argument in a driver's list.

    It stands for these words until the table is made and the block has a place in memory. `last`
    None: up to the end of the block.
    """

    def __init__(self, first, last):
        self.first, self.last = first, last

    def of(self, block):
        """Return these words of a block."""
        return block[self.first : len(block) if self.last is None else self.last]


def filled(thing, block, views):
    """Return a held argument as the loop gets it.

    A Part becomes words of `block`; a (kind,) becomes the next of `views`, which is removed there.
    """
    if isinstance(thing, list):
        return [filled(each, block, views) for each in thing]
    if isinstance(thing, Part):
        return thing.of(block)
    return views.pop(0) if _is_kind(thing) else thing


def kinds_of(thing, places):
    """Copy a list with (kind,) in place of each (kind, place); append these pairs to `places`.

    Inner lists are copied as well. Calls whose lists are equal then can share an entry.
    """
    if isinstance(thing, list):
        return [kinds_of(each, places) for each in thing]
    if isinstance(thing, tuple) and len(thing) == 2 and type(thing[0]) is int:
        places.append(thing)
        return thing[:1]
    return thing


def is_same(a, b):
    """Return True if two held arguments are interchangeable, such as lists of the same loops."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all([is_same(a[i], b[i]) for i in range(len(a))])
    if isinstance(a, Part) and isinstance(b, Part):
        return (a.first, a.last) == (b.first, b.last)
    return a is b or _is_kind(a) and a == b


def _is_kind(thing):
    """Return True if a thing is (kind,), which stands for a buffer: see kinds_of."""
    return isinstance(thing, tuple) and len(thing) == 1


def view_numbers(places, known):
    """Return the number of each place (kind, place) of a list, among the places of its kind.

    `known` has, by kind, the places that are numbered already; new ones are added to it.
    """
    numbers = []
    for kind, place in places:
        result = known.setdefault(kind, [])
        if place not in result:
            result.append(place)
        numbers.append(result.index(place))
    return tuple(numbers)


def add_views(table, entry, buffers, numbers):
    """Add views for the buffers in an entry's lists.

    Args:
        table: the Emission.
        entry: the Entry; its `listed` and `more` are set.
        buffers: (kind, place) of each buffer.
        numbers: result of view_numbers for them.
    """
    entry.listed = [table.view(b, n << 2 | 3) for b, n in zip(buffers, numbers)]
    views = sorted(set(entry.listed)) + [table.unused, table.unused]
    entry.more = []
    while len(views) > 2:
        entry.more.append(type(entry)(None, tuple(views[:3]), 0, 0, ()))
        views = views[3:]


def put(table, entry, number, places, p, listed):
    """Add a call of an entry with lists or unknown words to the code: see Emission.put.

    Args:
        table: the Emission.
        entry: the Entry.
        number: the entry's number, or _CHANGE.
        places: places of x, w and out.
        p: the block.
        listed: (kind, place) of the buffers in lists.
    """
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
