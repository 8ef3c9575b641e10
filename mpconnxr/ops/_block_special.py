"""Products of block floating point where a value is inf or nan: with floats, and allocating."""

import struct

from .. import forms
from ..parameters import BIAS

_HALF = 1 << 23


def float_of(bits):
    """The float32 of an int32."""
    return struct.unpack("<f", struct.pack("<i", bits))[0]


def row(step, values, w_first, n, place):
    """Products of a list of floats with n rows of weights. place: first item of out, step.

    A value of None is padding.
    """
    out = step.tensors[1].data
    k = len(values)
    low, high = _limits(step)
    at, out_step = place
    for m in range(w_first, w_first + n):
        unit = 2.0 ** (step.exponents[m] - 149)
        total = float_of(step.bias[m]) if step.align_p[1] else 0.0
        for i in range(k):
            if values[i] is not None:
                total += values[i] * (_mantissa(step, m, i) * unit)
        out[at] = low if total < low else high if total > high else total
        at += out_step


def _mantissa(step, row, i):
    """Weight i of a row."""
    at = row * step.w_step
    if step.short:
        return step.w[at + i] - (1 << 14)
    fours = step.bits == 4
    held = step.w[at + i // 2] >> 4 * (i & 1) & 15 if fours else step.w[at + i]
    return (held << 24 - step.bits) - _HALF


def float_row(step, w, p):
    """The same with rows of floats. p: as of loops/dot."""
    a, out = [t.data for t in step.tensors]
    low, high = _limits(step)
    forms.get("dot").dots_f32(a, w, out, p)
    for i in range(p[2], p[2] + p[6]):
        out[i] = low if out[i] < low else high if out[i] > high else out[i]


def _limits(step):
    p = step.finish_p
    return [float_of(p[i + 1] - (p[i] << 31)) for i in (10, 12)]


def conv_rows(step):
    """The output rows for which a step of block_pieces has set its parameters."""
    e, p = step.shape, step.p
    for g in range(e[1]):
        for y in range(p[51], p[52]):
            for x in range(e[12]):
                corner = (p[9] - BIAS, y * e[14] - step.pads[1], x * e[15] - step.pads[2])
                values = _patch(step, p[72] + g * p[62], corner)
                _position(step, values, g, y, x)


def _position(step, values, g, y, x):
    """Results of a group's channels at a position; of a window the largest stays."""
    e, m, (high, wide) = step.shape, step.shape[6], step.window
    at = step.p[64] + g * m * e[23] + y // high * e[25] + x // wide * e[26]
    places = [at + i * e[23] for i in range(m)]
    before = [step.out[i] for i in places]
    row(step, values, g * m, m, (at, e[23]))
    if y % high or x % wide:
        for i in range(m):
            if _order(before[i]) > _order(step.out[places[i]]):
                step.out[places[i]] = before[i]


def _order(bits):
    """Grows with the float of an int32, from NaN with a minus to NaN, as loops/pool has them."""
    return bits if bits >= 0 else -1 - (bits & 0x7FFFFFFF)


def _patch(step, first, corner):
    e, x = step.shape, step.tensors[0].data
    _, _, c, d, h, w = e[:6]
    values = []
    for kx in range(e[9]):
        xx = corner[2] + kx * e[18]
        for i in range(c * e[7] * e[8]):
            z = corner[0] + i // e[8] % e[7] * e[16]
            y = corner[1] + i % e[8] * e[17]
            inside = 0 <= z < d and 0 <= y < h and 0 <= xx < w
            at = first + ((i // (e[7] * e[8]) * d + z) * h + y) * w + xx
            values.append(x[at] if inside else None)
    return values
