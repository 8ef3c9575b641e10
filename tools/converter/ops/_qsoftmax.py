"""Emission of the device kernel `qsoftmax`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..ir import Tensor
from ..steps.overlap import line_by_line
from ._axes import named_lines
from ._integer import INT32
from ._qweights import scalar, shift_of

_BITS = 20  # of an exponential at most
_LIMIT = 1 << 29
_ENTRIES = 256  # of the table of exponentials
_PRECISE = 2.0**-13  # of 1 / y_scale: half a step in 2**12 of them


def emit_quantized_softmax(
    node, x: Sequence[Tensor], y: Sequence[Tensor], lines: Sequence[int]
) -> bool:
    """y = softmax(x) along (outer, n, inner), both as (values, scale, zero point).

    False if it can't be by integers.
    """
    (values, *of_x), (out, *of_y) = x, y
    known = [scalar(t) for t in (*of_x, *of_y)]
    if any(v is None for v in known) or known[0] <= 0 or not 2.0**-16 < known[2] < 1:
        return False
    x_scale, _, y_scale, y_zero = known
    factor = 1 / y_scale
    shift = next((s for s in range(8) if _is_whole(factor * 2**s)), None)
    if shift is None:
        return False
    factor = round(factor * 2**shift)
    largest = min(1 << _BITS, _LIMIT // factor, (_LIMIT >> shift) // max(int(lines[1]), 1))
    if largest < 1 << 16:
        return False
    power = min(round(math.exp(-float(np.float32(x_scale))) * 2**30), 2**30 - 1)
    params = {**named_lines(lines), "factor": factor, "shift": shift, "zy": y_zero + shift_of(out)}
    params |= {"largest": largest, "power": [power >> 15, power & 32767]}
    scratch, over = [node.temp(INT32, (_ENTRIES,))], line_by_line(out, values, *lines[1:])
    node.emit("qsoftmax", [values], [out], scratch=scratch, over=over, **params)
    return True


def _is_whole(factor):
    return abs(factor - round(factor)) <= _PRECISE * factor
