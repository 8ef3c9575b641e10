"""Products of block floating point where a value is inf or nan: with floats, and allocating."""

import struct

from .. import forms
from ..node import BIAS

_HALF = 1 << 23


def float_of(bits):
    """The float32 of an int32."""
    return struct.unpack("<f", struct.pack("<i", bits))[0]


def row(step, values, w_first, n, place):
    """Products of a list of floats with n rows of weights. place: first item of out, step.

    A value of None is padding.
    """
    out, tails = step.tensors[1].data, step.tails
    k = len(values)
    low, high = _limits(step)
    at, out_step = place
    for m in range(w_first, w_first + n):
        unit = 2.0 ** ((tails[3 * m + 1] >> 21 & 255) - 149)
        total = float_of(tails[3 * m + 2])
        for i in range(k):
            if values[i] is not None:
                total += values[i] * (_mantissa(step, m, i) * unit)
        out[at] = low if total < low else high if total > high else total
        at += out_step


def _mantissa(step, row, i):
    """Weight i of a row."""
    at = row * step.w_step
    fours = step.bits == 4
    held = step.w[at + i // 2] >> 4 * (i & 1) & 15 if fours else step.w[at + i]
    return (held << 24 - step.bits) - _HALF


def float_row(step, w, p):
    """The same with rows of floats. p: as of loops_dot."""
    a, out = [t.data for t in step.tensors]
    low, high = _limits(step)
    forms.get("loops_dot").dots_f32(a, w, out, p)
    for i in range(p[2], p[2] + p[6]):
        out[i] = low if out[i] < low else high if out[i] > high else out[i]


def _limits(step):
    p = step.finish_p
    return [float_of(p[i + 1] - (p[i] << 31)) for i in (10, 12)]


def conv_rows(step):
    """The output rows for which a step of block_conv has set its parameters."""
    e, p, q = step.shape, step.mantissas_p, step.finish_p
    m = e[6]
    for g in range(e[1]):
        for y in range(q[8]):
            at = q[4] + g * m * e[23] + y * e[25]
            for x in range(e[12]):
                corner = (p[9] - BIAS, p[10] - BIAS + y * e[14], x * e[15] - step.pads[2])
                values = _patch(step, p[0] + g * (step.n_image // e[1]), corner)
                row(step, values, g * m, m, (at + x * e[26], e[23]))


def conv_positions(step, x, n):
    """n positions of an output row, from x on, of the group that a step of conv_max_pool is at."""
    e, p, q = step.shape, step.mantissas_p, step.finish_p
    first = step.dots_p[4] // step.w_step
    for i in range(n):
        corner = (0, p[10] - BIAS, (x + i) * e[15] - step.pads[2])
        row(step, _patch(step, p[0], corner), first, e[6], (q[4] + i, e[23]))


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
