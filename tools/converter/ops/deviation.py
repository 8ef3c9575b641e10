"""Lower QLinearDeviation to kernel qdeviation.

It subtracts the mean of each row of bytes and multiplies by a factor that depends on the quantized
variance of the row. rewrites/qdq/normalize.py makes it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..steps.overlap import element_leads
from . import OWN, lowers
from ._dtypes import INT32
from ._microsoft import like
from ._qweights import scalar, shift_of

_MAX_NELEM = 0x7FFF
_SCALE_BITS, _MAX_SHIFT = 30, 127
_FACTOR_BITS, _MAX_RIGHT = 22, 29
_ROWS = 16  # rows in one call


def deviation_words(
    n: int, scales: Sequence[float], roots: np.ndarray
) -> tuple[list[int], np.ndarray] | None:
    """Return the parameter `scale` of kernel qdeviation, and its factors.

    Args:
        n: elements of a line.
        scales: scales of x, of the variance and of the result.
        roots: the deviation for each byte of the variance.

    Returns:
        ([mantissa, shift] of the scale, factors in the order of a byte's bits); None if a scale is
        out of range.
    """
    x, v, y = scales
    mantissa, exponent = math.frexp(x * x / (n * n * v))
    if not 0 < n <= _MAX_NELEM or not -_MAX_SHIFT < exponent <= 0:
        return None
    bits = min(round(math.ldexp(mantissa, _SCALE_BITS)), (1 << _SCALE_BITS) - 1)
    return [bits, -exponent], np.array([_factor(x / y, float(r)) for r in roots], np.int32)


def _factor(ratio: float, root: float) -> int:
    """Return ratio / root as a word; the largest word if that is infinite or NaN."""
    most = (1 << _FACTOR_BITS) - 1
    if not root > 0 or ratio / root >= most:
        return most
    shift = min(_FACTOR_BITS - math.frexp(ratio / root)[1], _MAX_RIGHT)
    return shift << 24 | min(round(math.ldexp(ratio / root, shift)), most)


@lowers("QLinearDeviation", domain=OWN, infer=like(0))
def lower_deviation(node):
    """Lower to (x - mean) / roots[variance] for each row; all are bytes except the roots."""
    x, out, n = node.inputs[0], node.outputs[0], node.inputs[0].shape[-1]
    x_scale, v_scale, v_zero, y_scale, y_zero = (scalar(node.inputs[i]) for i in (1, 3, 4, 6, 7))
    roots = node.const(5)
    packed = deviation_words(n, (x_scale, v_scale, y_scale), roots)
    if packed is None:
        raise Problem(f"{x}: scales out of range")
    scale, words = packed
    shift = shift_of(node.inputs[4])
    order = np.arange(len(words)) ^ shift  # that of unsigned bytes
    rows = x.nelem // n
    _emit(node, x, out, words[order], [rows, n], scale, [v_zero + shift, y_zero + shift_of(out)])


def _emit(node, x: Tensor, out: Tensor, words, sizes, scale, zeros):
    piece = min(sizes[0], _ROWS)
    params = dict(zip(("lines", "n"), sizes, strict=True))
    params |= {"piece": piece, "scale": scale, "zero": zeros[0], "zy": zeros[1]}
    scratch, over = [node.temp(INT32, (4 * piece,))], element_leads(out, [x])
    node.emit("qdeviation", [x, node.constant(words)], [out], scratch=scratch, over=over, **params)
