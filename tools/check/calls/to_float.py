"""Random calls of loops/to_float: see on_board_loops."""


def to_float32(d):
    channels, inner, lo = d.between(1, 5), d.between(1, 4), d.below(20)
    hi = lo + d.below(20)
    p = [lo, hi, channels, inner, lo // inner % channels, inner - lo % inner, 0x7FFFFFFF]
    return d.words(40), d.words(2 * channels), d.blank("i", 42), p
