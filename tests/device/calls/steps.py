"""Random calls of loops/steps: see loop_forms."""


def steps(d):
    bits = d.below(9)
    x = d.octets((255 * bits + 7) // 8)
    return x, x, d.blank("B", 257), [bits, d.below(256), d.below(256)]
