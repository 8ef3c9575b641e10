"""Random calls of loops/gather: see on_board_loops."""

from array import array


def index_words(d, words, rows):
    """One index: mostly in range, from the end or not; else any number."""
    if not d.below(4):
        return [d.word() for _ in range(words)]
    v = d.between(-rows - 1, rows)
    return [v, -1 if v < 0 else 0][:words]


def _call(d, make_x, kind):
    words, rows, inner = d.between(1, 2), d.between(1, 6), d.between(1, 5)
    first, out_first, lo, hi = d.below(4), d.below(4), d.below(3), d.between(3, 7)
    index = array("i", [])
    for _ in range(hi):
        index.extend(array("i", index_words(d, words, rows)))
    out = d.blank(kind, out_first + hi * inner + 2)
    p = [lo, hi, words, rows, inner, first, out_first, 0, -1, 0]
    return make_x(first + rows * inner), index, out, p


def gather8(d):
    return _call(d, d.octets, "B")


def gather32(d):
    return _call(d, d.words, "i")
