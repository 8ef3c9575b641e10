"""Draw the numbers and data of random calls of loops.

Beside it, FAMILY.py has a function for each loop of mpconnxr/loops/FAMILY.py that needs one, with
the loop's name. on_board_loops.py calls it with a Draw, d, for each random call. It returns the
call's arguments (x, w, out, p): three buffers and the list of parameters, in the order of their
indices in the loop's module.
"""

from array import array

_INFINITY = 0x7F800000


class Draw:
    """Random numbers and data, equal on every machine.

    Args:
        words: array of random words.
        seed: number that the calls depend on.
    """

    _of = None, None  # shared by all: words, and the same as bytes

    def __init__(self, words, seed):
        if Draw._of[0] is not words:
            Draw._of = words, bytes(words)
        self._words, self._octets = Draw._of
        self._state = seed

    def below(self, n):
        """Return a number from 0 to n - 1, for n up to 65536.

        The upper bits of the state decide: lower ones repeat soon.
        """
        self._state = (self._state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self._state >> 8) * n >> 23

    def between(self, least, greatest):
        return least + self.below(greatest - least + 1)

    def word(self):
        """Return any 32 bits as a signed number, often the bits of a special float."""
        return self._words[self.below(len(self._words))]

    def words(self, n):
        """Return an array of n words."""
        first = self.below(len(self._words) - n)
        return self._words[first : first + n]

    def octets(self, n):
        first = self.below(len(self._octets) - n)
        return bytearray(self._octets[first : first + n])

    def blank(self, kind, n):
        """Return n elements for a loop to write, none of them zero."""
        return array(kind, [77] * n)

    def call(self, recipe):
        """Return x, w, out and p for a recipe (see tools.check.recipes)."""
        _, p, *buffers = recipe.split()
        self._kind = max(self.below(12) - 2, 0)  # below 2 for all buffers, else each has its own
        self._some = [self.word() for _ in range(3)]
        parts = [self._buffer(*buffer.split(";")) for buffer in buffers]
        if isinstance(parts[2], bytearray):  # plain forms take a bytearray for signed bytes
            parts[2] = array("B", parts[2])
        return parts + [[int(word) for word in p.split(",")] if p != "-" else []]

    def _buffer(self, head, *limits):
        """Return the buffer that a recipe describes."""
        if head[0] == "=":
            return self.blank(head[1], int(head[2:]))
        code = head[0]
        elements = self._elements(_BITS_TYPE.get(code, code), int(head[1:]))
        for numbers in limits:
            kind, shift = self.below(10), self.below(32)
            first, n, step, times, least, greatest, sign = [int(v) for v in numbers.split(",")]
            for _ in range(times):
                for i in range(first, first + n):
                    v = self._within(least, greatest, kind, shift)
                    elements[i] = v - (1 << 31) if sign and self.below(2) else v
                first += step
        return array("f", bytes(elements)) if code == "f" else elements

    def _within(self, least, greatest, kind, shift):
        """Return a number from least to greatest.

        Args:
            least: least number.
            greatest: greatest number.
            kind: 0 an end, 1 near the least, 2 near the greatest, 3 or 4 near the middle, 5 always
                the same end, 6 with lower bits 0, 7 to 9 any.
            shift: how near, or how many lower bits.
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

    def _elements(self, code, n):
        """Return n elements of any value, often with few bits, similar exponents, or equal."""
        kind = self._kind if self._kind < 2 else self.below(8)
        if kind == 0:  # few distinct values
            some = [v & (255 if code == "B" else 65535) for v in self._some]
            some = self._some if code == "i" else some
            elements = [some[self.below(3)] for _ in range(n)]
            return bytearray(elements) if code == "B" else array(code, elements)
        if code == "B" and kind == 1:
            return bytearray([(0, 0, 0, 1, 128, 255)[self.below(6)] for _ in range(n)])
        if code == "B":
            mask = 255 >> self.below(8) if kind < 3 else 255
            return bytearray([v & mask for v in self.octets(n)])
        if code == "H":
            shift = self.below(16) if kind < 3 else 0
            return array("H", [(v & 65535) >> shift for v in self.words(n)])
        if kind == 1:  # small integers of one word or two
            elements, n_words = [], self.between(1, 2)
            for _ in range(n):
                v = self.between(-3, 9)
                elements += [v, -1 if v < 0 and self.below(4) else 0][:n_words]
            return array("i", elements[:n])
        some = self.words(n)
        if kind < 5:
            size = (self.between(1, 250) if kind == 2 else self.between(105, 140)) << 23
            zeros = self.below(24) if kind != 4 else 0  # low bits of the mantissas
            mask = 0x3FFFFFF >> zeros << zeros
            some = [(size + (v & mask)) % _INFINITY - (v & 1 << 31) for v in some]
        return array("i", [v if kind != 3 or self.below(9) else 0 for v in some])


_BITS_TYPE = {"f": "i"}  # type that holds the bits of floats
