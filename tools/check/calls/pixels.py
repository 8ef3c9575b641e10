"""Random calls of loops/pixels: see on_board_loops."""

from array import array


def _pixels(d):
    """n, place of red, first byte of out; out"""
    n, red, first = d.below(20), (0, 2, 3)[d.below(3)], d.below(4)
    return [n, red, first], d.blank("B", first + n * (1 if red == 3 else 3) + 2)


def indexed(d):
    p, out = _pixels(d)
    bits, first = 1 << d.below(4), d.below(5)
    x = d.octets(first + (p[0] * bits + 7) // 8 + 1)
    return x, d.octets(3 << bits), out, p + [first, bits]


def direct(d):
    p, out = _pixels(d)
    step, first = d.between(1, 8), d.below(5)
    x = d.octets(first + p[0] * step + 1)
    return x, d.octets(256), out, p + [first, step] + [d.below(step) for _ in range(3)]


def unfilter(d):
    n = d.below(30)
    out = array("B", d.octets(n + 2))  # read, too: a bytearray would be taken for signed bytes
    x = d.octets(n + 1)
    return x, x, out, [n, d.below(5), d.between(1, 8)]
