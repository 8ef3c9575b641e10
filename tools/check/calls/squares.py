"""Random calls of loops/squares: see on_board_loops."""

from array import array

_BIAS = 1 << 26


def integers(d, n, bits=26):
    """Of up to so many bits and the sign, some of them the largest."""
    found = [
        (d.word() & (1 << bits) - 1) >> (d.below(bits + 1) if d.below(2) else 0) for _ in range(n)
    ]
    found = [(1 << bits) - 4 if d.below(9) == 0 else min(v, (1 << bits) - 4) for v in found]
    return array("i", [_BIAS + (v if d.below(2) else 0 - v) for v in found])


def row(d, n):
    """What loops/units leaves."""
    bits = 26 if d.below(3) else d.below(26)
    exponent = d.between(1, 256) if d.below(4) == 0 else d.between(20, 160)
    return array("i", [exponent, d.below(31) if d.below(3) == 0 else 0]) + integers(d, n, bits)


def totals(d):
    n, vectors, first, at = d.between(1, 20), d.between(0, 3), d.below(3), d.below(3)
    x, w = row(d, n), integers(d, first + n * vectors + 1)
    for i in range(n if vectors and d.below(3) == 0 else 0):
        w[first + i] = x[2 + i]  # no distance, or a small one
    if vectors and d.below(2):
        w[first] = min(w[first] + d.below(3), 2 * _BIAS - 4)
    return x, w, d.blank("i", n + 3 * vectors + 3), [first, n, at, at + vectors]


def squares(d):
    n, vectors, at = d.between(1, 4), d.between(0, 5), d.below(3)
    x = row(d, n)
    for _ in range(vectors):
        empty = d.below(4)
        limbs = [d.word() & 0xFFFFFFF, d.word() & 0xFFFFFFF, d.below(1 << 13) << d.below(15)]
        if d.below(3) == 0:
            limbs[d.below(3)] = 1 << d.below(28)
        x += array("i", [v if i < 3 - empty else 0 for i, v in enumerate(limbs)])
    return x, x, d.blank("i", at + vectors + 1), [0, n, at, at + vectors]
