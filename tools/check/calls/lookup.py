"""Random calls of loops/lookup: see on_board_loops."""


def _range(d):
    lo = d.below(8)
    return [lo, lo + d.below(33)]


def lookup8(d):
    return d.octets(40), d.octets(256), d.blank("B", 42), _range(d)


def lookup32(d):
    return d.octets(40), d.words(256), d.blank("i", 42), _range(d)
