"""Random calls of loops/attention: see on_board_loops."""

from array import array


def limit(d):
    x = d.words(6)
    for i in range(0, 6, 2):
        x[i + 1] = 0 if d.below(4) else x[i + 1]
    return x, x, d.blank("i", 43), [2 * d.below(3), d.below(1 << 12), 0]


def peaks(d):
    n, k, step = d.below(6), d.below(9), d.below(12)
    x = d.words(80)
    return x, x, d.blank("i", 10), [d.below(8), n, step, k, d.below(4), d.below(256)]


def pack(d):
    n, k, step = d.between(0, 5), d.between(0, 9), d.below(12)
    w = array("i", [d.between(90, 254) for _ in range(8)])
    p = [d.below(8), n, step, k, d.below(3), d.below(4)]
    p += [k, 1] if d.below(2) else [1, n]
    return _floats(d, 80), w, d.blank("i", 60), p + [d.below(2) << 23]


def scale(d):
    first, n = d.below(4), d.below(12)
    out = array("i", [(v & 0xFFFFFF) - (1 << 23) for v in d.words(16)])
    return out, out, out, [first, n, (1 << 23) + (d.word() & 0x7FFFFF)]


def settle(d):
    rows, n, r = d.below(4), d.between(1, 5), d.between(1, 7)
    x = _limbs(d, 4, rows, n)
    return x, x, d.blank("i", 40), [4, rows, n, d.below(4), n + d.below(3), r]


def powers(d):
    keys = d.below(9)
    n, first = d.below(keys + 1), d.below(3)
    x = array("i", [d.between(100, 150) if d.below(8) else d.between(1, 254) for _ in range(40)])
    out = array("i", [(d.word() & 0x7FFFFFFF) - (1 << 30) for _ in range(20)])
    w = array("i", [(1 << 30) - (d.word() & (1 << 29) - 1) for _ in range(32)])
    p = [first, n, keys, d.below(10), 20 + d.below(10), 1024 - 228 - d.below(40), 14, 39]
    return x, w, out, p


def weights(d):
    rows, n = d.below(4), d.below(6)
    x = array("i", [d.word() & 0x3FFFFFFF if d.below(4) else 0 for _ in range(40)])
    w = array("i", [d.between(1, 254) for _ in range(30)])
    for i in range(4):
        w[10 + 3 * i] = d.between(1, 400)
    return (
        x,
        w,
        d.blank("i", 30),
        [d.below(4), rows, n + d.below(3), d.below(4), n, d.below(4), 10],
    )


def sums(d):
    rows, n = d.below(4), d.between(1, 5)
    x = _limbs(d, 2, rows, n)
    out = array("i", [v & 0xFFFFFF for v in d.words(48)])
    return x, x, out, [2, rows, n, d.below(4), d.below(2)]


def finish(d):
    rows, k = d.below(4), d.between(1, 5)
    x = array("i", [d.word() & 0xFFFFF for _ in range(48)])
    for i in range(1, 48, 2):
        x[i] -= d.below(2) << d.below(21)
    w = array("i", [0] * 16)
    for i in range(0, 15, 3):
        w[i] = d.between(1, 400)
        w[i + 1] = ((1 << 15) + (d.word() & 0xFFFFF)) * min(d.below(8), 1)
        w[i + 2] = d.word() & 0x7FFF
    p = [2 * d.below(3), rows, k, 3 * d.below(2), d.below(4), k + d.below(3)]
    return x, w, d.blank("i", 40), p


def _floats(d, n):
    """Often of one size, and finite."""
    words, size = d.words(n), d.between(100, 140) << 23
    if d.below(3) == 0:
        return words
    return array("i", [size + (v & 0xFFFFFF) - (v & 0x80000000) for v in words])


def _limbs(d, first, rows, n):
    """What loops/block_dot gives for rows of x and n of w: limbs of 24, 24 and 16 bits."""
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
