"""Block floating point where a value is inf or nan: with Python's floats, and allocating. Plain.

What loops/block_pieces and loops/block_products call for an image or a row that is not finite,
with p and w as these have them.

rows               output rows p[51] to p[52] of a convolution
product            row p[0] of a product of matrices
product_of_floats  the same with weights that only a run knows: see loops/block_rows
"""

from .. import forms
from ..parameters import BIAS
from ..tensor import view

# in w
_ALIGN_P = const(7)
_DOTS_P = const(8)
_FINISH_P = const(9)
_X = const(10)
_WEIGHTS = const(11)
_BIASES = const(12)
_EXPONENTS = const(13)
_OUT = const(15)

# in the parameters of align, dots and finish
_HAS_BIAS = const(1)
_BITS = const(7)  # of a weight; 0: short mantissas
_LIMITS = const(10)

_HALF = 1 << 23
_HALF_SHORT = 1 << 14

_cell = bytearray(4)
_bits, _float = view(_cell, 0, "i", 1), view(_cell, 0, "f", 1)


def float_of(bits):
    """The float32 of an int32."""
    _bits[0] = bits
    return _float[0]


def bits_of(value):
    """The int32 of a float, rounded to float32."""
    _float[0] = value
    return _bits[0]


def product(p, w):
    """Access: of the loops in whose place it is called"""
    x, out = w[_X], w[_OUT]
    values = [float_of(x[i]) for i in range(p[20], p[20] + p[3])]
    low, high = _limits(w)
    batch = p[0] // p[2]
    row = p[18] + (batch // p[6] * p[9] + batch % p[6] * p[10]) * p[4]
    at = p[19] + p[0] * p[4]
    for m in range(p[4]):
        out[at + m] = _limited(_total(w, values, row + m, p[12]), low, high)


def product_of_floats(p, w):
    """Access: of the loops in whose place it is called"""
    x, weights, out = w[_X], w[_BIASES], w[_OUT]
    k, has_bias = p[3], p[80]
    low, high = _limits(w)
    batch = p[0] // p[2]
    row = (batch // p[6] * p[7] + batch % p[6] * p[8]) * p[2] + p[0] % p[2]
    values = [float_of(x[i]) for i in range(row * k, row * k + k)]
    first, at = p[74], p[0] * p[4]
    dots = forms.get("dot").dots_f32
    for m in range(p[4]):
        some = [float_of(weights[i]) for i in range(first, first + k + has_bias)]
        dots(values, some, _float, (0, k, 0, 1, has_bias, 0, 1))
        out[at + m] = _limited(_float[0], low, high)
        first += k + has_bias


def _limits(w):
    p = w[_FINISH_P]
    return [float_of(p[i + 1] - (p[i] << 31)) for i in (_LIMITS, _LIMITS + 2)]


def _limited(total, low, high):
    return bits_of(low if total < low else high if total > high else total)


def _total(w, values, row, step):
    """Product of values with a row of weights. A value of None is padding."""
    unit = 2.0 ** (w[_EXPONENTS][row] - 149)
    total = float_of(w[_BIASES][row]) if w[_ALIGN_P][_HAS_BIAS] else 0.0
    for i in range(len(values)):
        if values[i] is not None:
            total += values[i] * (_mantissa(w, row * step, i) * unit)
    return total


def _mantissa(w, first, i):
    """Weight i of the row that begins at item first."""
    weights, bits = w[_WEIGHTS], w[_DOTS_P][_BITS]
    if bits == 0:
        return weights[first + i] - _HALF_SHORT
    fours = bits == 4
    held = weights[first + i // 2] >> 4 * (i & 1) & 15 if fours else weights[first + i]
    return (held << 24 - bits) - _HALF


def rows(p, w):
    """Access: of the loops in whose place it is called"""
    for g in range(p[54]):
        for y in range(p[51], p[52]):
            for x in range(p[57]):
                _position(p, w, g, y, x)


def _position(p, w, g, y, x):
    """Results of a group's channels at a position; of a window the largest stays."""
    out, m, step = w[_OUT], p[55], p[42]
    values = _patch(p, w[_X], p[72] + g * p[62], (y * p[13] + p[60], x * p[15] + p[61]))
    low, high = _limits(w)
    at = p[64] + g * m * step + y // p[67] * p[65] + x // p[68] * p[66]
    is_first = y % p[67] == x % p[68] == 0
    for row in range(g * m, g * m + m):
        bits = _limited(_total(w, values, row, p[63]), low, high)
        if is_first or _order(out[at]) <= _order(bits):
            out[at] = bits
        at += step


def _order(bits):
    """Grows with the float of an int32, from NaN with a minus to NaN, as loops/pool has them."""
    return bits if bits >= 0 else -1 - (bits & 0x7FFFFFFF)


def _patch(p, x, first, corner):
    """What an output's kernel sees of a group; corner: its y and x, plus BIAS."""
    c, depth, height, width, kd, kh = [p[i] for i in range(1, 7)]
    values = []
    for kx in range(p[70]):
        xx = corner[1] + kx * p[17] - BIAS
        for i in range(c * kd * kh):
            z = p[9] + i // kh % kd * p[7] - BIAS
            y = corner[0] + i % kh * p[8] - BIAS
            inside = 0 <= z < depth and 0 <= y < height and 0 <= xx < width
            at = first + ((i // (kd * kh) * depth + z) * height + y) * width + xx
            values.append(float_of(x[at]) if inside else None)
    return values
