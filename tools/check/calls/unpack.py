"""Random calls of loops/unpack: see on_board_loops."""


def unpack(d):
    bits = d.between(1, 2) * 2
    n, first = d.below(40), d.below(5)
    x = d.octets(first + n + 1)
    p = [first, n, bits, d.below(2) << bits - 1, 8 // bits]
    return x, x, d.blank("B", n + 2), p
