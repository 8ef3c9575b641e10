"""Random calls of loops_dynamic_quantize: see loop_forms."""


def _p(d):
    return [0, d.between(1, 40), 0x7FFFFFFF, 0x7F800000, d.below(256)]


def ends(d):
    x = d.words(40)
    return x, x, d.blank("i", 2), _p(d)


def to_bytes(d):
    return d.words(40), d.words(3), d.blank("B", 42), _p(d)
