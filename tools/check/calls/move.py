"""Random calls of loops/move: see on_board_loops."""

_BIAS = 1 << 29
_ITEMS = 200


def _place(d, dims):
    """Three strides, and a first item that keeps all the others inside."""
    strides = [d.between(-12, 12) for _ in dims]
    ends = [(n - 1) * s for n, s in zip(dims, strides)]
    least, most = sum([min(e, 0) for e in ends]), sum([max(e, 0) for e in ends])
    return strides, d.between(-least, _ITEMS - 1 - most)


def _call(d, x, out):
    lo = d.below(2)
    dims = [d.between(1, 3) + lo, d.between(1, 4), d.between(1, 7)]
    sx, x_first = _place(d, dims)
    so, out_first = _place(d, dims)
    p = [lo] + dims + [_BIAS + v for v in sx + so + [x_first, out_first]]
    return x, x, out, p


def copy8(d):
    return _call(d, d.octets(_ITEMS), d.blank("B", _ITEMS))


def copy32(d):
    return _call(d, d.words(_ITEMS), d.blank("i", _ITEMS))
