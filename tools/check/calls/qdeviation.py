"""Random calls of loops/qdeviation: see on_board_loops."""

from array import array


def _words(d, n):
    return [d.between(0, 29) << 24 | d.below(1 << 22) for _ in range(n)]


def spread8(d):
    rows, n = d.between(1, 4), d.between(1, 40)
    x = d.octets(rows * n)
    spread, least = d.below(8), d.below(128)
    for i in range(len(x)):  # rows of few different items, too
        x[i] = least + (x[i] >> spread) & 255
    lo = d.below(rows)
    scale = (1 << 29) + d.below(1 << 29)
    p = [lo, d.between(lo + 1, rows), n, d.below(2) * 128, scale, d.between(30, 90), d.below(256)]
    return x, array("i", _words(d, 256)), d.blank("i", 4 * rows + 1), p


def deviations8(d):
    rows, n = d.between(1, 4), d.between(1, 9)
    w = []
    for _ in range(rows):
        root = d.below(1 << 22)
        w += [d.below(256), root, d.below(30), d.below(root + 1)]
    p = [0, rows, n, d.below(2) * 128, d.below(256)]
    return d.octets(rows * n), array("i", w), d.blank("B", rows * n + 1), p
