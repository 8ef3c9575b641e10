"""Random calls of loops/cache: see on_board_loops."""

from array import array


def put8(d):
    return _call(d, d.octets(600), d.blank("B", 600))


def put32(d):
    return _call(d, d.words(600), d.blank("i", 600))


def _call(d, x, out):
    batches, lines, n, inner = d.between(1, 3), d.between(1, 3), d.between(1, 9), d.between(1, 7)
    rows, circular = d.between(1, n), d.below(2)
    w = array("i", [0] * 2 * batches)
    for i in range(batches):
        w[2 * i] = d.below(n + 2) if d.below(8) else d.word()
        w[2 * i + 1] = 0 if d.below(8) else d.word()
    first = d.below(batches)
    return x, w, out, [first, batches, lines, n, rows, inner, circular, 0, 0, 0]
