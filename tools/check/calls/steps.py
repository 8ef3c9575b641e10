"""Random calls of loops/steps: see on_board_loops."""


def steps(d):
    bits = d.below(9)
    x = d.octets((255 * bits + 7) // 8)
    return x, x, d.blank("B", 257), [bits, d.below(256), d.below(256)]
