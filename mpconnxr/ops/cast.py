"""cast: out = x in another dtype, element by element.

Serves Cast and CastLike (all opsets) between float16, bfloat16, float32, float64, integers and
bool. To a float: the nearest, ties to even, inf where it is too large. To an integer: truncated,
modulo 2**bits; inf and nan become 0. To bool: whether it is not 0.

    x, out  float16 and bfloat16 as their bits
    no params
Raises ModelError. A step allocates only what arithmetic does (boxed floats, big integers).
"""

import math

from ..node import block
from ..tensor import range_of
from .inline import ITEMS, Items, compile_loop, wrapped

INF = float("inf")
NAN = float("nan")

# Narrow floats: bits of the mantissa, exponent of the least normal number.
_NARROW = {"float16": (10, -14), "bfloat16": (7, -126)}


def prepare(node):
    node.expect(1, 1, 0)
    x, out = node.inputs[0], node.outputs[0]
    node.require(x.nelem == out.nelem, "sizes differ")
    loop = compile_loop(ITEMS, _expression(x.dtype, out.dtype), globals())
    return x.nelem, Items(loop, x.data, x.data, out.data, block(0, 0)).step


def _expression(source, target):
    if source == target:
        return "x"
    value = "widen(x, {}, {})".format(*_NARROW[source]) if source in _NARROW else "x"
    if target == "bool":
        return "1 if {} else 0".format(value)
    if target in _NARROW:
        return "narrow({}, {}, {})".format(value, *_NARROW[target])
    limits = range_of(target)
    if limits is None:
        return value
    known = range_of(source)
    if known is None:
        value = "whole({})".format(value)
    elif limits[0] <= known[0] and known[1] <= limits[1]:
        return value
    return wrapped(value, target)


def whole(x):
    return int(x) if x - x == 0 else 0


def widen(bits, mantissa_bits, least):
    """The float that the bits of a narrow one mean."""
    mantissa = bits & ((1 << mantissa_bits) - 1)
    exponent = (bits & 0x7FFF) >> mantissa_bits
    if exponent == 1 - 2 * least + 2:
        value = NAN if mantissa else INF
    else:
        if exponent:
            mantissa += 1 << mantissa_bits
            exponent -= 1
        value = math.ldexp(mantissa, exponent + least - mantissa_bits)
    return -value if bits >> 15 else value


def narrow(x, mantissa_bits, least):
    """Bits of the narrow float nearest to x."""
    top = (3 - 2 * least) << mantissa_bits  # of inf
    if x != x:
        return top | 1 << (mantissa_bits - 1)
    sign = 0x8000 if math.copysign(1.0, x) < 0 else 0
    if x - x != 0:
        return sign | top
    if x == 0:
        return sign
    exponent = max(math.frexp(x)[1] - 1, least)
    # whole steps between neighbours of this exponent; a carry goes on into the exponent's bits
    steps = round(abs(math.ldexp(x, mantissa_bits - exponent)))
    return sign | min(steps + ((exponent - least) << mantissa_bits), top)
