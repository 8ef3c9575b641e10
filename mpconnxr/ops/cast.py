"""cast: out = x in another dtype, element by element.

Serves Cast and CastLike (all opsets) between all floats, integers and bool. To a float: the
nearest, ties to even; what is too large becomes inf, in a float8 what `saturate` says, in smaller
ones the greatest number. To an integer: truncated, modulo 2**bits; inf and nan become 0. To bool:
whether it is not 0.

    x, out  floats of 16 bits and fewer as their bits
Raises ModelError. A step allocates only what arithmetic does (boxed floats, big integers).
"""

from ..parameters import block
from ..tensor import is_narrow, range_of
from ._inline import ITEMS, Items, compile_loop, wrapped

# params, or none
_SATURATE = const(0)  # flag; all of a float8
_ROUND_MODE = const(1)  # of float8e8m0: 0 up, 1 down, 2 nearest (see narrow)
_N_PARAMS = const(2)

STREAMS = (0,)


def prepare(node):
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    is_float8 = out.dtype.startswith("float8")
    node.expect(1, 1, _N_PARAMS if is_float8 else 0)
    saturate, round_mode = node.extents(0, _N_PARAMS) if is_float8 else (0, 0)
    node.require(saturate < 2 and round_mode < 3, "saturate or round mode")
    node.require(x.nelem == out.nelem, "sizes differ")
    template = ITEMS
    if is_narrow(x.dtype):
        template = _with(template, "decode", (x.dtype,))
    if is_narrow(out.dtype):
        template = _with(template, "encode", (out.dtype, saturate, round_mode))
    loop = compile_loop(template, _expression(x.dtype, out.dtype), globals())
    return x.nelem, Items(loop, x.data, x.data, out.data, block(0, 0)).step


def _with(template, method, options):
    """The template with this method of a narrow float, which is made once: it is a default."""
    return template.replace("):", ", {0}=kind{1!r}.{0}):".format(method, options), 1)


def kind(*options):
    from .. import narrow

    return narrow.kind(*options)


def _expression(source, target):
    """x of the source's dtype as the target's; decode and encode are those of narrow floats."""
    if source == target:
        return "x"
    value = "decode(x)" if is_narrow(source) else "x"
    known = range_of(source)
    if known and known[1] < 127:  # its byte may hold more than it should
        value = wrapped(value, source)
    if target == "bool":
        return "1 if {} else 0".format(value)
    if is_narrow(target):
        return "encode({})".format(value)
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
