"""cast: out = x in another dtype, element by element.

Serves Cast and CastLike (all opsets) between all floats, integers and bool. To a float: the
nearest, ties to even; what is too large becomes inf, in a float8 what `saturate` says, in smaller
ones the greatest number. To an integer: truncated, modulo 2**bits; inf and nan become 0. To bool:
whether it is not 0.

    x, out  floats of 16 bits and fewer as their bits
    params  if out is a float8: saturate (0, 1), round mode of float8e8m0 (0 up, 1 down, 2 nearest,
            see narrow); else none
Raises ModelError. A step allocates only what arithmetic does (boxed floats, big integers).
"""

from ..parameters import block
from ..tensor import is_narrow, range_of
from ._inline import ITEMS, Items, compile_loop, wrapped

STREAMS = (0,)


def prepare(node):
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    is_float8 = out.dtype.startswith("float8")
    node.expect(1, 1, 2 if is_float8 else 0)
    saturate, round_mode = node.extents(0, 2) if is_float8 else (0, 0)
    node.require(saturate < 2 and round_mode < 3, "saturate or round mode")
    node.require(x.nelem == out.nelem, "sizes differ")
    decode = encode = None
    if is_narrow(x.dtype) or is_narrow(out.dtype):
        from .. import narrow

        if is_narrow(x.dtype):
            decode = narrow.kind(x.dtype).decode
        if is_narrow(out.dtype):
            encode = narrow.kind(out.dtype, saturate, round_mode).encode
    loop = compile_loop(ITEMS, _expression(x.dtype, out.dtype), globals())
    return x.nelem, Items(loop, x.data, (decode, encode), out.data, block(0, 0)).step


def _expression(source, target):
    """x of the source's dtype as the target's; w: the functions for narrow floats."""
    if source == target:
        return "x"
    value = "w[0](x)" if is_narrow(source) else "x"
    known = range_of(source)
    if known and known[1] < 127:  # its byte may hold more than it should
        value = wrapped(value, source)
    if target == "bool":
        return "1 if {} else 0".format(value)
    if is_narrow(target):
        return "w[1]({})".format(value)
    limits = range_of(target)
    if limits is None:
        return value
    if known is None:
        value = "whole({})".format(value)
    elif limits[0] <= known[0] and known[1] <= limits[1]:
        return value
    return wrapped(value, target)


def whole(x):
    return int(x) if x - x == 0 else 0
