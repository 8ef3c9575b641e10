"""cast: out = x in another dtype, element by element.

Serves Cast and CastLike (all opsets) between all floats, integers and bool. To a float: the
nearest, ties to even; what is too large becomes inf, in a float8 what `saturate` says, in smaller
ones the greatest number. Integers become narrow floats by way of float32. To an integer:
truncated, modulo 2**bits; inf and nan become 0. To bool: whether it is not 0.

    x, out  floats of 16 bits and fewer as their bits
Between float32 and float16, integers of a byte and more, or bool, on the bits (see loops/casts),
where a step allocates nothing if there is viper. Others allocate what arithmetic does (boxed
floats, big integers). Raises ModelError.
"""

from .. import forms
from ..parameters import block
from ..tensor import is_narrow, range_of
from ._inline import ITEMS, Items, compile_loop, wrapped

# params, or none
_SATURATE = const(0)  # flag; all of a float8
_ROUND_MODE = const(1)  # of float8e8m0: 0 up, 1 down, 2 nearest (see narrow)
_N_PARAMS = const(2)

STREAMS = (0,)
_ONE = 0x3F80  # of a float32, its upper half


def prepare(node):
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    is_float8 = out.dtype.startswith("float8")
    node.expect(1, 1, _N_PARAMS if is_float8 else 0)
    saturate, round_mode = node.extents(0, _N_PARAMS) if is_float8 else (0, 0)
    node.require(saturate < 2 and round_mode < 3, "saturate or round mode")
    node.require(x.nelem == out.nelem, "sizes differ")
    found = _on_bits(x, out)
    if found:
        return x.nelem, found.step
    template = ITEMS
    if is_narrow(x.dtype):
        template = _with(template, "decode", (x.dtype,))
    if is_narrow(out.dtype):
        template = _with(template, "encode", (out.dtype, saturate, round_mode))
    loop = compile_loop(template, _expression(x.dtype, out.dtype), globals())
    return x.nelem, Items(loop, x.data, x.data, out.data, block(0, 0)).step


def _on_bits(x, out):
    """The Items of a loop of loops/casts; None where there is none for these dtypes."""
    if x.dtype == "bool":
        found = _of_bool(out.dtype, range_of(out.dtype))
    elif x.dtype == "float32":
        found = _of_float(out.dtype, range_of(out.dtype))
    elif out.dtype == "float32":
        found = _to_float(x.dtype, range_of(x.dtype))
    else:
        found = None
    if found is None:
        return None
    name, code, out_code, *p = found
    loop, bits = getattr(forms.get("casts"), name), x.view(code)
    return Items(loop, bits, bits, out.view(out_code), block(0, 0, *p))


def _of_bool(dtype, limits):
    """(loop, codes of its views, what it takes behind the range) from bool; None: no loop."""
    if dtype == "float32":
        return "words_of_bools", "B", "H", _ONE, 2, 1
    size = _size(limits)
    return ("words_of_bools", "B", "H", 1, size // 2, 0) if size > 1 else None


def _of_float(dtype, limits):
    """The same from float32."""
    if dtype == "float16":
        return "halves_of_float", "i", "H", 0, 0
    if dtype == "bool":
        return "bools_of_bytes", "B", "B", 1, 4
    size = _size(limits)
    if size > 1:
        return "words_of_float", "i", "H", 0, size // 2
    return ("bytes_of_float", "i", "B", 0, 1) if size else None


def _to_float(dtype, limits):
    """The same to float32."""
    if dtype == "float16":
        return "float_of_halves", "H", "i", 0, 0
    size, is_signed = _size(limits), int(limits is not None and limits[0] < 0)
    if size > 1:
        return "float_of_words", "H", "i", is_signed, size // 2
    return ("float_of_bytes", "B", "i", is_signed, 1) if size else None


def _size(limits):
    """Bytes of an integer by its range; 0 of others, and of what is smaller."""
    for size in (1, 2, 4, 8):
        if limits and limits[1] - limits[0] == (1 << 8 * size) - 1:
            return size
    return 0


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
