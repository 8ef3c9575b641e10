"""Calls loops with random data in every form that this machine has, and compares the bits.

    script N FAMILY...    with calls/FAMILY.py and `data` beside it

calls/FAMILY.py has a function for each loop of the family, of the same name: it takes a Draw and
gives (x, w, out, p) for one call. Prints for each loop its family, its name, the number of calls,
a digest of all results, which is the same on every machine, and the best form that this machine
has; `differs` where forms disagree.
From .mpy files a family may have one form only, and no plain one.
"""

import hashlib
import sys
from array import array
from binascii import hexlify

# Before anything else, while the heap is in one piece.
with open("data", "rb") as file:
    data = array("i", bytearray(file.seek(0, 2)))
    file.seek(0)
    file.readinto(data)

from calls.draw import Draw  # noqa: E402

from mpconnxr import forms  # noqa: E402


def results(call, loop):
    """Return all bytes that a loop wrote, its parameters too; not what it left in room in x."""
    x, w, out, p = call
    x = x[:] if isinstance(x, bytearray) and x is not out else x
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
    print(family, name, n, str(hexlify(digest.digest()), "ascii"), here[0][0])


for family in sys.argv[2:]:
    draws = getattr(__import__("calls." + family), family)
    for name in sorted(dir(draws)):
        if not name.startswith("_") and hasattr(forms.get(family), name):
            compare(family, name, draws, int(sys.argv[1]))
