"""Random calls of loops/samples: see on_board_loops."""

from array import array


def _place(d):
    """How many images, p, the items of a dim around a place."""
    n, c, rank, places = d.between(1, 2), d.between(1, 3), d.between(2, 3), d.between(1, 5)
    dims = [d.between(1, 3) if rank == 3 else 1, d.between(1, 4), d.between(1, 5)]
    lo, mode = d.below(n * places), d.below(3)
    p = [lo, d.between(lo, n * places), c] + dims + [places, rank, mode, d.below(3), d.below(2)]
    taps = (1, 2, 4)[mode]
    return n, p + [0, 0, taps**rank], taps


def locate(d):
    n, p, _ = _place(d)
    x = d.words(n * p[6] * p[7])
    if d.below(4):
        x = array("i", bytes(array("f", [d.between(-300, 300) / 128 for _ in x])))
    return x, x, d.blank("i", 9 * p[7] * (p[1] - p[0])), p


def spread(d):
    _, p, taps = _place(d)
    w = array("i")
    for k in range((p[1] - p[0]) * p[7]):
        size = p[5 - k % p[7]]
        first = (1 << 29) + d.between(-3 * size - 2, 3 * size + 2)
        w.extend(array("i", [d.below(9) and taps, first, 0, 0, 0, d.below(1 << 28), 0, 0, 0]))
    return w, w, array("i", w), p


def join(d):
    _, p, taps = _place(d)
    x = array("i")
    for k in range((p[1] - p[0]) * p[7]):
        found = [d.below(9) and taps] + [d.below(p[5 - k % p[7]]) for _ in range(4)]
        found += [min(d.below(1 << 29), 1 << 28) * d.below(4) // 3 for _ in range(4)]
        x.extend(array("i", found))
    return x, x, d.blank("i", (p[1] - p[0]) * (1 + 2 * p[13])), p


def weigh(d):
    n, p, _ = _place(d)
    plane, most, w = p[3] * p[4] * p[5], p[13], array("i")
    x = d.words(n * p[2] * plane)
    if d.below(4):
        x = array("i", [(v & 0x03FFFFFF) + (126 << 23) - (v & 64) * (1 << 25) for v in x])
    for _ in range(p[1] - p[0]):
        found = [2 * d.between(0, most)]
        for _ in range(most):
            weight = (1 << 28) // most - d.below((1 << 28) // most) * d.below(2)
            found += [d.below(plane), weight + (d.below(2) << 29)]
        w.extend(array("i", found))
    return x, w, d.blank("i", n * p[2] * p[6]), p
