"""Read the numbers of a model file: 1 to 5 bytes each, one after another (docs/format.md).

Functions here and in records are small because most firmware keeps a frame of more than 11 words
in the heap: to allocate it takes ten times as long as such a function computes.
"""

from array import array

from .. import forms
from ..errors import fail

_words = array("i", [0] * 48)  # returned by Numbers.words
_p = array("i", [0, 0, 0])
_read = None  # the loop, from the first call on


class Numbers:
    """Read the numbers in data[at:end].

    A number takes a byte at least, so a count that exceeds the bytes left is refused before
    anything is done for it.

    Attributes:
        at: offset of the next number.
        n_read: number of numbers that were read.
    """

    def __init__(self, data, at, end, n_read=0):
        self._data = data
        self.at = at
        self._end = end
        self.n_read = n_read

    def next(self):
        """Return a number, -2**31 to 2**31 - 1: even codes are positive, odd ones negative."""
        at = self.at
        if at >= self._end:
            fail("tables end inside a number")
        code = self._data[at]
        self.at = at + 1
        if code > 127:
            code = self._longer(code & 127)
        self.n_read += 1
        return -1 - (code >> 1) if code & 1 else code >> 1

    def _longer(self, code):
        """Return a code of several bytes. code: the bits of its first byte."""
        shift = 7
        while True:
            if self.at >= self._end:
                fail("tables end inside a number")
            byte = self._data[self.at]
            self.at += 1
            code |= (byte & 127) << shift
            if byte < 128:
                break
            shift += 7
            if shift > 28:
                fail("a number of more than 32 bits")
        if code >> 32:
            fail("a number of more than 32 bits")
        return code

    def size(self):
        """Return a number that is not negative."""
        at = self.at
        if at < self._end:  # most have one byte: calls took a fifth of the time of loading
            code = self._data[at]
            if not code & 129:
                self.at = at + 1
                self.n_read += 1
                return code >> 1
        n = self.next()
        if n < 0:
            fail("a size is negative")
        return n

    def count(self):
        """Return a count of things that follow, each of at least one number. Raises ModelError."""
        n = self.size()
        if n > self._end - self.at:
            fail("tables end too early")
        return n

    def take(self, n):
        """Return a list of the next n numbers; n comes from `count`."""
        result, i = [0] * n, 0
        while i < n:
            result[i] = self.next()
            i += 1
        return result

    def words(self, n):
        """Read the next n numbers; n comes from `count`.

        Return an array whose first n elements they are until the next call.
        """
        while len(_words) <= n:
            _words.append(0)
        _p[0], _p[1], _p[2] = self.at, self._end, n
        global _read
        _read = _read or forms.get("loading").numbers
        _read(self._data, self._data, _words, _p)
        at = _words[n]
        if at < 0:
            fail("tables end inside a number" if at == -1 else "a number of more than 32 bits")
        self.at = at
        self.n_read += n
        return _words

    def skip(self, n):
        """Skip n numbers."""
        self.n_read += n
        data, at, end = self._data, self.at, self._end
        while n:
            if at >= end:
                fail("tables end inside a number")
            if data[at] < 128:
                n -= 1
            at += 1
        self.at = at

    def fork(self, at=None):
        """Return another reader of the numbers from here on, or from offset `at` on."""
        return Numbers(self._data, self.at if at is None else at, self._end, self.n_read)

    def check_padding(self):
        """Raise ModelError unless only zeros are left, to the next multiple of 16."""
        if self._end - self.at > 15 or any(self._data[self.at : self._end]):
            fail("tables do not fill their space")
