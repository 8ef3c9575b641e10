"""Random calls of loops_dot_u8: see loop_forms."""


def dots_u8(d):
    k, m = d.below(40), d.between(1, 5)
    x_first, w_first, out_first, stride = d.below(5), d.below(5), d.below(3), d.between(1, 3)
    out = d.blank("i", out_first + m * stride)
    p = [x_first, k, out_first, stride, w_first, m]
    return d.octets(x_first + k + 1), d.octets(w_first + k * m + 1), out, p


def sum_u8(d):
    k, first = d.below(40), d.below(5)
    x = d.octets(first + k + 1)
    return x, x, d.blank("i", 4), [first, k, d.below(4)]
