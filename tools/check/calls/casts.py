"""Random calls of loops/casts: see on_board_loops."""

from array import array


def _block(d, n, flag, size):
    lo = d.below(5)
    return [lo, lo + d.below(n - 5), flag, size]


def _words(d, n):
    """Integers of 16 bits; long ones of few bits, too."""
    low = d.below(3) * 8
    return array("H", [(d.word() & 65535) >> low for _ in range(n)])


def float_of_bytes(d):
    return d.octets(40), array("i", [0]), d.blank("i", 40), _block(d, 40, d.below(2), 1)


def float_of_words(d):
    n = (1, 2, 4)[d.below(3)]
    x = _words(d, 20 * n)
    for i in range(d.below(20) * n):
        if i % n >= n // 2:  # a small number, of either sign
            x[i] = 65535 * (x[i] & 1)
    return x, array("i", [0]), d.blank("i", 20), _block(d, 20, d.below(2), n)


def float_of_halves(d):
    return _words(d, 40), array("i", [0]), d.blank("i", 40), _block(d, 40, 0, 0)


def _floats(d, n):
    """Many of a size that an integer has."""
    x = d.words(n)
    for i in range(0, n, 2):
        x[i] = (d.word() & 0x7FFFFF) | d.between(90, 220) << 23
    return x


def halves_of_float(d):
    return _floats(d, 40), array("i", [0]), array("H", [77] * 40), _block(d, 40, 0, 0)


def bytes_of_float(d):
    return _floats(d, 40), array("i", [0]), d.blank("B", 40), _block(d, 40, 0, 1)


def words_of_float(d):
    n = (1, 2, 4)[d.below(3)]
    return _floats(d, 20), array("i", [0]), array("H", [77] * 20 * n), _block(d, 20, 0, n)


def bools_of_bytes(d):
    n = 4
    x = d.octets(20 * n)
    for i in range(20 * n):
        if d.below(2):
            x[i] = 128 * (d.below(4) == 0)
    return x, array("i", [0]), d.blank("B", 20), _block(d, 20, d.below(2), n)


def words_of_bools(d):
    n = (1, 2, 4)[d.below(3)]
    p = _block(d, 20, d.below(65536), n) + [d.below(n)]
    return d.octets(20), array("i", [0]), array("H", [77] * 20 * n), p
