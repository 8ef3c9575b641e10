"""Taps of one coordinate, and the weighted sum over a place's taps. Plain form."""

from ..ops._float_math import half_even

_FAR = 1e9  # as good as infinite
_ALPHA = -0.75  # of Keys' cubic convolution


def taps(v, d, modes, at, share):
    """Sets the indices and shares of the items of a dim of d around v; returns how many.

    v: -1 .. 1; modes: see the kernel's params.

    Access:
        reads modes[0 : 3]
        writes at[0 : 4]
        writes share[0 : 4]
    """
    mode = modes[0]
    padding = modes[1]
    align = modes[2]
    v = (v + 1.0) / 2.0 * (d - 1) if align else ((v + 1.0) * d - 1.0) / 2.0
    if mode == 0:
        v = half_even(v)
    if padding == 1:
        margin = 4 if mode == 2 else 0  # where all taps of a cubic lie on the border
        v = 0.0 - margin if v < 0 - margin else d + margin - 1.0 if v > d + margin - 1 else v
    if not -_FAR < v < _FAR:
        share[0] = 0.0
        at[0] = 0
        return 1
    if padding == 2:
        v = _reflected(v, d, align)
    first = int(v // 1)
    rest = v - first
    if mode == 0:
        n = 1
        share[0] = 1.0
    elif mode == 1:
        n = 2
        share[0] = 1.0 - rest
        share[1] = rest
    else:
        n = 4
        first -= 1
        share[0] = _outer(1.0 + rest)
        share[1] = _inner(rest)
        share[2] = _inner(1.0 - rest)
        share[3] = _outer(2.0 - rest)
    _place(first, n, d, modes, at, share)
    return n


def _place(first, n, d, modes, at, share):
    k = 0
    while k < n:
        i = first + k
        if not 0 <= i < d:
            if modes[1] == 0:
                share[k] = 0.0
            elif modes[1] == 2:
                i = int(_reflected(i, d, modes[2]))
        at[k] = 0 if i < 0 else d - 1 if i >= d else i
        k += 1


def _reflected(v, d, align):
    """v mirrored at the borders until it lies between them."""
    low, reach = (0.0, d - 1.0) if align else (-0.5, float(d))
    if low <= v <= low + reach:
        return v
    if reach == 0.0:
        return low
    away = low - v if v < low else v - low - reach
    n = int(away / reach)
    rest = away - n * reach
    return low + rest if (n % 2 == 0) == (v < low) else low + reach - rest


def _inner(x):
    return ((_ALPHA + 2.0) * x - (_ALPHA + 3.0)) * x * x + 1.0


def _outer(x):
    return ((_ALPHA * x - 5.0 * _ALPHA) * x + 8.0 * _ALPHA) * x - 4.0 * _ALPHA


def weigh(x, w, out, p):
    """w: flat (indices) and weights of the taps; p: taps, first item of x and of out, channels,
    items from one channel to the next in x and in out.

    Access:
        n, channels, plane = p[0], p[3], p[4]
        given the items of w.flat are below p[4]
        reads w.flat[0 : n] if channels
        reads w.weights[0 : n] if channels
        reads x[p[1] : p[1] + channels * plane] if n
        writes out[p[2] : p[2] + (channels - 1) * p[5] + 1] if channels
    """
    flat, weights, n = w.flat, w.weights, p[0]
    base, at = p[1], p[2]
    channel = 0
    while channel < p[3]:
        total = 0.0
        t = 0
        while t < n:
            total += weights[t] * x[base + flat[t]]
            t += 1
        out[at] = total
        base += p[4]
        at += p[5]
        channel += 1
