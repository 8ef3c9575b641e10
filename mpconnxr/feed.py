"""Copy a caller's values into the input tensors.

This module copies arrays, bytes and flat lists of numbers fast. For everything else, and for the
message about a value that does not fit, it imports io.values, which few programs need.
"""

from array import array
from sys import maxsize

from .errors import InputError
from .turn import SHORT, fresh

try:
    from uctypes import addressof, bytearray_at
except ImportError:  # CPython among others
    bytearray_at = None

_WORD = 8 if maxsize > 0x7FFFFFFF else 4  # bytes
# A tensor's `fed` is the typecode of its data, or 0 if only io.values knows how to fill it.
_BYTES = const(128)  # is added where not every element is a value of the dtype: copy only bytes

# After one of these io.values fills the tensor, or says why not. AttributeError: strings, maps,
# and views whose typecode is unknown. MemoryError: of a copy.
_FAULTS = (TypeError, ValueError, OverflowError, AttributeError, MemoryError)


def filled(model, x):
    """Copy x into a model's inputs: see Model.run. Raises InputError, UnsupportedError."""
    tensors = model.inputs
    try:
        if len(tensors) != 1 or not _is_copied(tensors[0], x):
            _fill(tensors, x)
    except MemoryError:
        raise fresh(SHORT)
    except RuntimeError:
        raise InputError("a value lies too deep in others, or the stack is too short")


def _fill(tensors, x):
    if isinstance(x, dict):
        x = _in_order(tensors, x)
    elif len(tensors) == 1:
        x = (x,)
    if not isinstance(x, (list, tuple)) or len(x) != len(tensors):
        raise InputError("the model has {} inputs: give a list of as many".format(len(tensors)))
    for i in range(len(x)):
        fill_one(tensors[i], x[i])


def _in_order(tensors, x):
    """Return the values of a dict in the order of the tensors. Raises InputError."""
    names = [t.name for t in tensors]
    for name in x:
        if name not in names:
            raise InputError("no input {}; there are {}".format(name, ", ".join(names)))
    for name in names:
        if name not in x:
            raise InputError("input {} is missing".format(name))
    return [x[name] for name in names]


def fill_one(t, x):
    """Copy one value into a tensor. Raises InputError if it does not fit.

    The value is bytes in C order, an array, list, nested list or number.
    """
    if not _is_copied(t, x):
        from .io import values

        values.fill_one(t, x)


def _is_copied(t, x):
    """Copy x if its shape does not matter and return True; otherwise t may be partly filled."""
    kind = type(x)
    try:
        code = t.fed
        if code is None:
            code = t.fed = _fed(t)
        if (kind is array or kind is memoryview) and _code(x) == code:
            t.data[:] = x
            return True
        return _is_another(t, x, kind, code)
    except _FAULTS:
        return False


def _is_another(t, x, kind, code):
    """Copy a list, bytes, or a view of bytes; return True if it was copied.

    Args:
        t: the tensor.
        x: the value.
        kind: type of x.
        code: struct code of the elements, or 0.
    """
    if kind is list or kind is tuple:
        return 0 < code < _BYTES and len(x) == len(t.data) and _are_numbers(t, chr(code), x)
    return code and _are_bytes(t, x, kind)


def _are_bytes(t, x, kind):
    """Copy x if it is bytes or a view of bytes; return True if it was copied."""
    if kind is not bytes and kind is not bytearray and kind is not memoryview:
        return False
    if not bytearray_at or len(x) != t.nbytes:
        return False
    bytearray_at(addressof(t.data), len(x))[:] = x
    return True


def _fed(t):
    """Return the value of t.fed."""
    if type(t.data) is not memoryview or type(t).__name__ == "OpenInput":
        return 0
    code = _code(t.data)
    if chr(code) in "fdhiIqQ" or t.dtype in ("int8", "uint8", "uint16"):
        return code
    return code + _BYTES


def _code(x):
    """Return the typecode of an array or memoryview, as a number.

    MicroPython keeps it in the first byte of the object's second word, with a bit for writable
    views: see tensor.words.
    """
    at = id(x)  # negative ones: see tensor
    return bytearray_at((at if at >= 0 else at & 0x7FFFFFFF) + _WORD, 1)[0] & 127


if not bytearray_at:

    def _code(x):
        return ord(x.format if isinstance(x, memoryview) else x.typecode)


def _are_numbers(t, code, x):
    """Copy a list or tuple; return True if all its numbers are in range. Raises TypeError."""
    data = t.data
    if code in "fd":
        i = 0
        for value in x:
            data[i] = value
            i += 1  # noqa: SIM113  enumerate allocates
        return True
    data[:] = array(code, x)  # most versions wrap what is out of range
    k = "bBhHiIqQ".index(code)
    n = 1 << (8 << k // 2)
    if k & 1:
        return 0 <= min(x) and max(x) < n
    return -n <= 2 * min(x) and 2 * max(x) < n
