"""The numbers of a file in which pieces that were there before are not repeated.

See docs/format.md. Imported only for a model whose features say so.
"""

from .errors import fail
from .numbers import Numbers
from .source import allocate

_MOST = 33  # bytes that one makes, on average: a copy of two bytes makes up to 66


def expanded(data, at, end):
    """The bytes of all numbers that data[at:end] stands for."""
    numbers = Numbers(data, at, end)
    n, i, k = numbers.size(), numbers.at, 0
    if n > (end - i) * _MOST:
        fail("numbers beyond what there is of them")
    out = allocate(n)
    while k < n:
        if i + 2 > end:
            fail("tables end inside a piece")
        c = data[i]
        m = (c & 63) + 3
        if c < 128:
            m = c + 1
            i += 1
            if i + m > end or k + m > n:
                fail("a piece is too long")
            out[k : k + m] = data[i : i + m]
            i += m
            k += m
            continue
        back = data[i + 1] + 1
        i += 2
        if c & 64 and i < end:
            back += data[i] << 8
            i += 1
        if back > k or k + m > n:
            fail("a copy from outside")
        while m:
            out[k] = out[k - back]
            k += 1
            m -= 1
    if end - i > 15 or any(data[i:end]):
        fail("tables do not fill their space")
    return out
