"""Powers that products, quotients and roots give: exact or nearly so, without boxed floats."""

from __future__ import annotations

from ..ir import Tensor
from ._elementwise import FLOAT, emit_binary, emit_unary

_MOST = 3


def emit_power(node, x: Tensor, exponent: float, out: Tensor) -> bool:
    """out = x ** exponent; False where it is not for that.

    A square of any dtype; of float32 -2, -1, 3 and quarters up to 3, for which -inf becomes NaN.
    """
    if exponent == 2:
        emit_binary(node, "mul", x, x, out)
        return True
    if x.dtype != FLOAT or exponent not in (-1, -2) and not _is_quarters(exponent):
        return False
    if exponent == -1:
        emit_unary(node, "reciprocal", x, out)
    elif exponent == -2:
        square = node.temp(FLOAT, x.shape)
        emit_binary(node, "mul", x, x, square)
        emit_unary(node, "reciprocal", square, out)
    else:
        _emit_product(node, _factors(node, x, round(4 * exponent), out), out)
    return True


def _is_quarters(exponent):
    return 0 < exponent <= _MOST and exponent != 1 and 4 * exponent == int(4 * exponent)


def _factors(node, x, quarters, out):
    """x, its root and the root of that, as often as it takes; the only one is out."""
    factors = [x] * (quarters // 4)
    if quarters % 4:
        is_last = quarters == 2
        root = out if is_last else node.temp(FLOAT, x.shape)
        emit_unary(node, "sqrt", x, root)
        factors += [root] * (quarters >> 1 & 1)
    if quarters & 1:
        fourth = out if quarters == 1 else node.temp(FLOAT, x.shape)
        emit_unary(node, "sqrt", root, fourth)
        factors.append(fourth)
    return factors


def _emit_product(node, factors, out):
    product, *others = factors
    for i, factor in enumerate(others):
        target = out if i == len(others) - 1 else node.temp(FLOAT, out.shape)
        emit_binary(node, "mul", product, factor, target)
        product = target
