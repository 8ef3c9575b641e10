"""cast: out = x in another dtype, element by element.

Serves Cast and CastLike (all opsets) between all floats, integers and bool. To a float: round to
nearest, ties to even. Overflow gives inf, in a float8 what `saturate` says, in smaller floats the
largest number. Integers are converted to narrow floats by way of float32. To an integer: truncate,
modulo 2**bits; inf and NaN give 0. To bool: True unless 0.

    x, out  floats of 16 bits and fewer as their bits

From or to float32, the other dtype being float16, an integer of a byte and more, or bool,
loops/casts works on the bits and allocates nothing where viper runs; also from bool to integers.
Others allocate boxed floats and big integers. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..tensor import is_narrow, range_of
from ._inline import ELEMENTS, compile_loop, emit_elements, wrapped

# params, or none
_SATURATE = const(0)  # flag; both parameters are those of a float8
_ROUND_MODE = const(1)  # of float8e8m0: 0 up, 1 down, 2 nearest (see narrow)
_N_PARAMS = const(2)

CALLS = True
STREAMS = (0,)
_ONE = 0x3F80  # upper half of the float32 1.0


def prepare(node, calls):
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    is_float8 = out.dtype.startswith("float8")
    node.expect(1, 1, _N_PARAMS if is_float8 else 0)
    saturate, round_mode = node.extents(0, _N_PARAMS) if is_float8 else (0, 0)
    node.require(saturate < 2 and round_mode < 3, "saturate or round mode")
    node.require(x.nelem == out.nelem, "sizes differ")
    match = _on_bits(x.dtype, out.dtype)
    if match:
        loop, code, out_code, make = match
        n, x, out = x.nelem, calls.place(x, code), calls.place(out, out_code)
        for start, end in calls.parts(n):
            calls.call(loop, x, None, out, make(start, end))
        return
    template = ELEMENTS
    if is_narrow(x.dtype):
        template = _with(template, "decode", (x.dtype,))
    if is_narrow(out.dtype):
        template = _with(template, "encode", (out.dtype, saturate, round_mode))
    loop = compile_loop(template, _expression(x.dtype, out.dtype), globals())
    emit_elements(calls, loop, calls.place(x), None, calls.place(out), x.nelem)


def _on_bits(source, target):
    """Return (loop, struct codes of x and out, function that makes its block), or None."""
    if source == "bool":
        return _of_bool(target)
    if source == "float32":
        return _of_float(target)
    return _to_float(source) if target == "float32" else None


def _of_bool(target):
    """Return the same for x of bool."""
    if target == "float32":
        one, words, place = _ONE, 2, 1
    else:
        one, words, place = 1, _size(range_of(target)) // 2, 0
    if not words:
        return None

    def make(start, end):
        return block(
            "casts.words_of_bools",
            start=start,
            end=end,
            one=one,
            words_per_element=words,
            place=place,
        )

    return forms.get("casts").words_of_bools, "B", "H", make


def _of_float(target):
    """Return the same for x of float32."""
    size = _size(range_of(target))
    if target == "float16":
        return forms.get("casts").halves_of_float, "i", "H", _ends
    if target == "bool":
        return forms.get("casts").bools_of_bytes, "B", "B", _of_float_to_bool
    if size == 0:
        return None
    if size == 1:
        return forms.get("casts").bytes_of_float, "i", "B", _ends

    def make(start, end):
        return block(
            "casts.words_of_float", start=start, end=end, is_signed=0, words_per_element=size // 2
        )

    return forms.get("casts").words_of_float, "i", "H", make


def _to_float(source):
    """Return the same for out of float32."""
    limits = range_of(source)
    size, is_signed = _size(limits), int(limits is not None and limits[0] < 0)
    if source == "float16":
        return forms.get("casts").float_of_halves, "H", "i", _ends
    if size == 0:
        return None

    def of_bytes(start, end):
        return block("casts.float_of_bytes", start=start, end=end, is_signed=is_signed)

    def of_words(start, end):
        return block(
            "casts.float_of_words",
            start=start,
            end=end,
            is_signed=is_signed,
            words_per_element=size // 2,
        )

    if size == 1:
        return forms.get("casts").float_of_bytes, "B", "i", of_bytes
    return forms.get("casts").float_of_words, "H", "i", of_words


def _ends(start, end):
    """Return the block of float_of_halves, halves_of_float or bytes_of_float."""
    return block("casts.float_of_halves", start=start, end=end)


def _of_float_to_bool(start, end):
    return block("casts.bools_of_bytes", start=start, end=end, is_float=1, bytes_per_element=4)


def _size(limits):
    """Return the bytes of an integer with this range; 0 for other dtypes and sub-byte integers."""
    for size in (1, 2, 4, 8):
        if limits and limits[1] - limits[0] == (1 << 8 * size) - 1:
            return size
    return 0


def _with(template, method, options):
    """Return the template with a method of a narrow float, made once, as a default argument."""
    return template.replace("):", ", {0}=kind{1!r}.{0}):".format(method, options), 1)


def kind(*options):
    from ..io import narrow

    return narrow.kind(*options)


def _expression(source, target):
    """Return the expression of x in the target dtype; narrow floats have decode and encode."""
    if source == target:
        return "x"
    value = "decode(x)" if is_narrow(source) else "x"
    known = range_of(source)
    if known and known[1] < 127:  # its byte may hold a larger value
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
