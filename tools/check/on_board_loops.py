"""Call loops with random data in every form that this machine has, and compare the bits.

    script N FAMILY...    with calls/FAMILY.txt or .py and `data` beside it

calls/FAMILY.txt has recipes, lines that begin with a loop's name: a Draw makes a call from each.
After the last one they begin again, with other data. calls/FAMILY.py has functions named like
loops instead: each takes a Draw and returns (x, w, out, p) for one call. A family may have both.

For each loop the script prints family, name, number of calls, digest of all results (the same on
every machine), and the best form that this machine has; `differs` if forms disagree. From .mpy
files a family may have one form only, and no plain one.
"""

import hashlib
import os
import sys
from array import array
from binascii import hexlify

# Before anything else, while the free heap is contiguous.
with open("data", "rb") as file:
    data = array("i", bytearray(file.seek(0, 2)))
    file.seek(0)
    file.readinto(data)

from calls.draw import Draw  # noqa: E402

from mpconnxr import forms  # noqa: E402


def results(call, loop):
    """Call a loop; return all bytes that it wrote, parameters too, except scratch in x."""
    x, w, out, p = call
    x = x[:] if isinstance(x, bytearray) and x is not out else x
    out, p = array("b", bytes(out)) if isinstance(out, bytearray) else out[:], array("i", p)
    loop(x, w, out, p)
    return bytes(out) + bytes(p)


FILES = os.listdir("calls")


def written(family):
    """Return the module calls/FAMILY; None if it does not exist."""
    if family + ".py" in FILES or family + ".mpy" in FILES:
        return getattr(__import__("calls." + family), family)
    return None


def recipes(family):
    """Yield the lines of calls/FAMILY.txt, if it exists."""
    if family + ".txt" in FILES:
        with open("calls/" + family + ".txt") as lines:
            yield from lines


def calls(family, name, draw):
    """Yield calls of a loop without end."""
    make = getattr(written(family), name, None)
    while True:
        if make:
            yield make(draw)
        else:
            for line in recipes(family):
                if line.startswith(name + " "):
                    yield draw.call(line)


def compare(family, name, n):
    """Make n calls of a loop in all forms, compare the results, and print their digest."""
    digest = hashlib.sha256()
    here = [(form, getattr(forms.get(family, form), name)) for form in forms.available(family)]
    plain = here[-1][1]
    made = calls(family, name, Draw(data, len(name) * 7919 + n))
    for i in range(n):
        call = next(made)
        right = results(call, plain)
        digest.update(right)
        for form, loop in here:
            if loop is not plain and results(call, loop) != right:
                print("differs", family, name, form, "call", i, "p", list(call[3]))
                return
    print(family, name, n, str(hexlify(digest.digest()), "ascii"), here[0][0])


for family in sys.argv[2:]:
    names = {line.split(" ")[0] for line in recipes(family)} | set(dir(written(family)))
    for name in sorted(names):
        if not name.startswith("_") and hasattr(forms.get(family), name):
            compare(family, name, int(sys.argv[1]))
