"""Draw the numbers and data of random calls: see on_board_loops."""

from array import array

_INFINITY = 0x7F800000


class Draw:
    """Random numbers and data, the same on every machine."""

    _of = None, None  # the words of the last one, and the same as bytes: too large to have twice

    def __init__(self, words, seed):
        if Draw._of[0] is not words:
            Draw._of = words, bytes(words)
        self._words, self._octets = Draw._of
        self._state = seed

    def below(self, n):
        """0 to n - 1, for n up to 65536. The upper bits decide: lower ones repeat soon."""
        self._state = (self._state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self._state >> 8) * n >> 23

    def between(self, least, greatest):
        return least + self.below(greatest - least + 1)

    def word(self):
        """Any 32 bits, signed; often those of a float that is special."""
        return self._words[self.below(len(self._words))]

    def words(self, n):
        """An array of so many of them."""
        first = self.below(len(self._words) - n)
        return self._words[first : first + n]

    def octets(self, n):
        first = self.below(len(self._octets) - n)
        return bytearray(self._octets[first : first + n])

    def blank(self, kind, n):
        """What a loop writes to: n items, none of them zero."""
        return array(kind, [77] * n)

    def call(self, recipe):
        """Return x, w, out, p of a line of calls/FAMILY.txt, which tools.check.recipes writes."""
        _, p, *buffers = recipe.split()
        self._kind = max(self.below(12) - 2, 0)  # of all buffers, or from 2 on of each its own
        self._some = [self.word() for _ in range(3)]
        found = [self._buffer(*buffer.split(";")) for buffer in buffers]
        if isinstance(found[2], bytearray):  # plain forms take a bytearray for signed bytes
            found[2] = array("B", found[2])
        return found + [[int(word) for word in p.split(",")] if p != "-" else []]

    def _buffer(self, head, *limits):
        """Return the buffer that a recipe describes."""
        if head[0] == "=":
            return self.blank(head[1], int(head[2:]))
        code = head[0]
        items = self._items(_OF_BITS.get(code, code), int(head[1:]))
        for numbers in limits:
            kind, shift = self.below(10), self.below(32)
            first, n, step, times, least, greatest, sign = [int(v) for v in numbers.split(",")]
            for _ in range(times):
                for i in range(first, first + n):
                    v = self._within(least, greatest, kind, shift)
                    items[i] = v - (1 << 31) if sign and self.below(2) else v
                first += step
        return array("f", bytes(items)) if code == "f" else items

    def _within(self, least, greatest, kind, shift):
        """Return a number from least to greatest.

        kind: 0 an end, 1 near the least, 2 near the greatest, 3, 4 near the middle, 5 always the
        same end, 6 with lower bits 0, 7 to 9 any.
        """
        v = (self.below(65536) << 16 | self.below(65536)) % (greatest - least + 1)
        if kind == 0:
            return greatest if v & 1 else least
        if kind == 1:
            return least + (v >> shift)
        if kind == 2:
            return greatest - (v >> shift)
        if kind == 3 or kind == 4:
            middle = (least + greatest + 1) // 2
            return middle + ((least + v - middle) >> shift)
        if kind == 5:
            return least if shift & 1 else greatest
        if kind == 6:
            return least + (v >> shift << shift)
        return least + v

    def _items(self, code, n):
        """Return items of any value. Often they have few bits, similar exponents, or are equal."""
        kind = self._kind if self._kind < 2 else self.below(8)
        if kind == 0:  # few different ones
            some = [v & (255 if code == "B" else 65535) for v in self._some]
            some = self._some if code == "i" else some
            items = [some[self.below(3)] for _ in range(n)]
            return bytearray(items) if code == "B" else array(code, items)
        if code == "B" and kind == 1:
            return bytearray([(0, 0, 0, 1, 128, 255)[self.below(6)] for _ in range(n)])
        if code == "B":
            mask = 255 >> self.below(8) if kind < 3 else 255
            return bytearray([v & mask for v in self.octets(n)])
        if code == "H":
            shift = self.below(16) if kind < 3 else 0
            return array("H", [(v & 65535) >> shift for v in self.words(n)])
        if kind == 1:  # small integers of a word or of two
            items, n_words = [], self.between(1, 2)
            for _ in range(n):
                v = self.between(-3, 9)
                items += [v, -1 if v < 0 and self.below(4) else 0][:n_words]
            return array("i", items[:n])
        some = self.words(n)
        if kind < 5:
            size = (self.between(1, 250) if kind == 2 else self.between(105, 140)) << 23
            zeros = self.below(24) if kind != 4 else 0  # behind the mantissas
            mask = 0x3FFFFFF >> zeros << zeros
            some = [(size + (v & mask)) % _INFINITY - (v & 1 << 31) for v in some]
        return array("i", [v if kind != 3 or self.below(9) else 0 for v in some])


_OF_BITS = {"f": "i"}  # what holds the bits of floats
