"""Where random calls have their numbers from: see on_board_loops."""

from array import array


class Draw:
    """Random numbers and data, the same on every machine."""

    _of = None, None  # the words of the last one, and the same as bytes: too large to have twice

    def __init__(self, words, seed):
        if Draw._of[0] is not words:
            Draw._of = words, bytes(words)
        self._words, self._octets = Draw._of
        self._state = seed

    def below(self, n):
        """0 to n - 1, for n up to some thousands."""
        self._state = (self._state * 1103515245 + 12345) & 0x7FFFFFFF
        return (self._state >> 8) % n

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
