"""Restore Gelu, Swish and HardSwish from products of x and a function of x.

1. x * (1 + erf(x / sqrt(2))) * 0.5, its factors in any order: com.microsoft's Gelu.
2. x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) * 0.5: com.microsoft's FastGelu. The cube
   may be Pow or two Muls.
3. min(max(a * x + b, 0), 1), as Clip with a factor before or behind: HardSigmoid.
4. x * HardSigmoid(x) with alpha 1/6 and beta 1/2: HardSwish, from opset 14 on; also where the
   factor of rule 3 comes behind the product with x.
5. x * sigmoid(a * x): com.microsoft's QuickGelu.

Constants may differ from these by a thousandth of a percent, as exporters round them.
"""

from __future__ import annotations

import math

import onnx_ir as ir

from . import _graph as g

_RTOL = 1e-5
_HARD_SWISH_SINCE = 14


def rewrite(model: ir.Model) -> int:
    n_changed = 0
    for node in g.nodes_of(model, "Erf", "Tanh", "Clip", "HardSigmoid", "Sigmoid"):
        if node.graph is not None and g.is_float(node.outputs[0]):
            n_changed += bool(_RULES[node.op_type](node))
    return n_changed


def factors(value: ir.Value, skip: ir.Value | None = None) -> tuple[list[ir.Value], float]:
    """Return a product as (factors, a number); `skip` is not taken apart."""
    node = None if value is skip else g.maker(value, "Mul", "Div")
    if node is None:
        return [value], 1.0
    left, right = node.inputs
    number = g.scalar(right)
    if number is not None and (node.op_type == "Mul" or number):
        values, factor = factors(left, skip)
        return values, factor * (number if node.op_type == "Mul" else 1 / number)
    if node.op_type == "Div":
        return [value], 1.0
    number = g.scalar(left)
    values, factor = factors(right, skip)
    if number is not None:
        return values, factor * number
    more, second = factors(left, skip)
    return more + values, factor * second


def _other_addend(value, number):
    """Return y of y + number, else None."""
    node = g.maker(value, "Add")
    for y, c in () if node is None else (node.inputs, node.inputs[::-1]):
        if g.scalar(c) is not None and _is_near(g.scalar(c), number):
            return y
    return None


def _is_near(a, b):
    return math.isclose(a, b, rel_tol=_RTOL)


def _product_above(value, x, number):
    """Return the node that computes number * x * value, if no other node reads its parts."""
    inner, top = value, g.sole_reader(value)
    while g.is_op(top, "Mul", "Div"):
        values, factor = factors(top.outputs[0], inner)
        if _is_near(factor, number) and {*values} == {x, inner} and len(values) == 2:
            return top
        top = g.sole_reader(top.outputs[0])
    return None


def _gate(node, top, op_type, x, domain=g.MS, **attributes):
    """Replace the pattern that ends at `top` by a gate of x; return True if it was replaced.

    Args:
        node: the node at which the pattern was recognized.
        top: last node of the pattern; None if the pattern does not match.
        op_type: operator of the gate, such as Gelu.
        x: input of the pattern.
        domain: domain of the operator.
        **attributes: attributes of the gate.
    """
    if top is None or not g.same_type(x, top.outputs[0]):
        return False
    return g.replace(top, g.add(top, op_type, [x], attributes, domain, named=top))


def _one_plus(node):
    """Return the value 1 + node if nobody else reads the node, else None."""
    reader = g.sole_reader(node.outputs[0])
    is_sum = reader is not None and _other_addend(reader.outputs[0], 1.0) is node.outputs[0]
    return reader.outputs[0] if is_sum else None


def _gelu(node):
    """Apply rule 1."""
    values, factor = factors(node.inputs[0])
    total = _one_plus(node)
    if total is None or len(values) != 1 or not _is_near(factor, math.sqrt(0.5)):
        return False
    return _gate(node, _product_above(total, values[0], 0.5), "Gelu", values[0])


def _fast_gelu(node):
    """Apply rule 2."""
    values, factor = factors(node.inputs[0])
    total, inner = _one_plus(node), g.maker(values[0], "Add")
    if total is None or inner is None or len(values) != 1:
        return False
    for x, cube in (inner.inputs, inner.inputs[::-1]):
        if _is_near(factor, math.sqrt(2 / math.pi)) and _is_cube(cube, x):
            return _gate(node, _product_above(total, x, 0.5), "FastGelu", x)
    return False


def _is_cube(value, x):
    """Return True for 0.044715 * x^3."""
    values, factor = factors(value)
    power = g.maker(values[0], "Pow")
    is_power = power is not None and power.inputs[0] is x and g.scalar(power.inputs[1]) == 3
    is_cubed = len(values) == 1 and is_power or len(values) == 3 and {*values} == {x}
    return is_cubed and _is_near(factor, 0.044715)


def _hard_sigmoid(node):
    """Apply rule 3: clip(x * a + b, low, high) * c, where low is 0 and c is 1 / high."""
    low, high = (_limit(node, i, name) for i, name in enumerate(("min", "max")))
    total = g.maker(node.inputs[0], "Add")
    if low != 0 or high is None or high <= 0 or total is None:
        return False
    top = node if high == 1 else g.sole_reader(node.outputs[0])
    if top is not node:
        values, factor = factors(top.outputs[0]) if g.is_op(top, "Mul", "Div") else ([], 0.0)
        if values[:1] != [node.outputs[0]] or len(values) > 1 or not _is_near(factor * high, 1):
            return _scaled_hard_swish(node, total, high)
    for y, c in (total.inputs, total.inputs[::-1]):
        if g.scalar(c) is not None and g.same_type(y, node.outputs[0]):
            values, factor = factors(y)
            x = values[0] if len(values) == 1 else y
            attributes = {"alpha": (factor if x is not y else 1.0) / high}
            attributes["beta"] = g.scalar(c) / high
            return _gate(node, top, "HardSigmoid", x, "", **attributes)
    return False


def _scaled_hard_swish(node, total, high):
    """Apply rule 4 to x * clip(x + 3, 0, 6) / 6."""
    for x, c in (total.inputs, total.inputs[::-1]):
        is_default = g.scalar(c) == 3 and high == 6 and g.opset_of(node) >= _HARD_SWISH_SINCE
        if is_default and g.same_type(x, node.outputs[0]):
            return _gate(node, _product_above(node.outputs[0], x, 1 / 6), "HardSwish", x, "")
    return False


def _limit(node, i, name):
    return g.attr(node, name) if name in node.attributes else g.scalar(g.input_of(node, i + 1))


def _hard_swish(node):
    """Apply rule 4."""
    alpha, beta = g.attr(node, "alpha", 0.2), g.attr(node, "beta", 0.5)
    if not (_is_near(alpha, 1 / 6) and beta == 0.5) or g.opset_of(node) < _HARD_SWISH_SINCE:
        return False
    x = node.inputs[0]
    return _gate(node, _product_above(node.outputs[0], x, 1.0), "HardSwish", x, "")


def _swish(node):
    """Apply rule 5."""
    values, alpha = factors(node.inputs[0])
    if len(values) != 1:
        return False
    top = _product_above(node.outputs[0], values[0], 1.0)
    return _gate(node, top, "QuickGelu", values[0], alpha=alpha)


_RULES = {
    "Clip": _hard_sigmoid,
    "Erf": _gelu,
    "HardSigmoid": _hard_swish,
    "Sigmoid": _swish,
    "Tanh": _fast_gelu,
}
