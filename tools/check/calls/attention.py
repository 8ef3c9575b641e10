"""Random calls of loops/attention (see draw.py).

settle and sums take limbs of sums that loops/block_dot made; powers takes scores that lie close
together.
"""

from array import array


def powers(d):
    keys = d.below(9)
    n, first = d.below(keys + 1), d.below(3)
    x = array("i", [d.between(100, 150) if d.below(8) else d.between(1, 254) for _ in range(40)])
    out = array("i", [(d.word() & 0x7FFFFFFF) - (1 << 30) for _ in range(20)])
    w = array("i", [(1 << 30) - (d.word() & (1 << 29) - 1) for _ in range(32)])
    p = [first, n, keys, d.below(10), 20 + d.below(10), 1024 - 228 - d.below(40), 14, 39]
    return x, w, out, p


def settle(d):
    rows, n, r = d.below(4), d.between(1, 5), d.between(1, 7)
    x = _limbs(d, 4, rows, n)
    return x, x, d.blank("i", 40), [4, rows, n, d.below(4), n + d.below(3), r]


def sums(d):
    rows, n = d.below(4), d.between(1, 5)
    x = _limbs(d, 2, rows, n)
    out = array("i", [v & 0xFFFFFF for v in d.words(48)])
    return x, x, out, [2, rows, n, d.below(4), d.below(2)]


def _limbs(d, first, rows, n):
    """Draw the sums that loops/block_dot makes, as limbs of 24, 24 and 16 bits.

    Args:
        d: draws numbers.
        first: words before the sums.
        rows: rows of x.
        n: rows of w.
    """
    x = d.words(first + 3 * rows * (n + 1))
    for row in range(rows):
        at = first + 3 * row * (n + 1)
        total = (1 << 40) + (d.word() >> 2)
        base = total - (1 << 40)
        for i in range(n + 1):
            if i:
                total = (1 << 63) + ((1 << 23) * base) + (d.word() << d.below(18))
            x[at] = total & 0xFFFFFF
            x[at + 1] = total >> 24 & 0xFFFFFF
            x[at + 2] = total >> 48
            at += 3
    return x
