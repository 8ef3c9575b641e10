"""Calls loops with random data in every form that this machine has, and compares the bits.

    script N FAMILY...    with calls/FAMILY.py and `data` beside it

calls/FAMILY.py has a function for each loop of the family, of the same name: it takes a Draw and
gives (x, w, out, p) for one call. Prints for each loop its family, its name, the number of calls
and a digest of all results, which is the same on every machine; `differs` where forms disagree.
From .mpy files a family may have one form only, and no plain one.
"""

import hashlib
import sys
from array import array
from binascii import hexlify

from mpconnxr import forms


class Draw:
    """Random numbers and data, the same on every machine."""

    def __init__(self, words, seed):
        self._words = words
        self._octets = bytes(words)
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


def results(call, loop):
    x, w, out, p = call
    out, p = array("b", bytes(out)) if isinstance(out, bytearray) else out[:], array("i", p)
    loop(x, w, out, p)
    return bytes(out) + bytes(p)


def compare(family, name, draws, n):
    """The digest of n calls in the plain form, if there is one, and all others must agree."""
    digest = hashlib.sha256()
    make = getattr(draws, name)
    here = [(form, getattr(forms.get(family, form), name)) for form in forms.available(family)]
    plain = here[-1][1]
    draw = Draw(data, len(name) * 7919 + n)
    for i in range(n):
        call = make(draw)
        right = results(call, plain)
        digest.update(right)
        for form, loop in here:
            if loop is not plain and results(call, loop) != right:
                print("differs", family, name, form, "call", i, "p", list(call[3]))
                return
    print(family, name, n, str(hexlify(digest.digest()), "ascii"))


data = array("i", open("data", "rb").read())
for family in sys.argv[2:]:
    draws = getattr(__import__("calls." + family), family)
    for name in sorted(dir(draws)):
        if not name.startswith("_") and hasattr(forms.get(family), name):
            compare(family, name, draws, int(sys.argv[1]))
