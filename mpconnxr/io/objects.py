"""Strings and maps: values that are Python objects, outside of the arena.

Imported only for a model that has some. A run allocates for them as Python does.
"""

import struct

from ..errors import InputError, ModelError, UnsupportedError
from .values import Writer, product, write_all

OPEN = -1  # a dimension of strings that a run decides

STRING = 8
# The number of a map: MAP, plus SEQUENCE for a list of maps, plus STRING_KEYS (otherwise they are
# int64), plus the dtype of its values.
MAP, SEQUENCE, STRING_KEYS = 64, 32, 16
VALUES = {1: "float32", 7: "int64", STRING: "string", 11: "float64"}

_MOST = 1 << 24  # elements, so that a damaged file does not take the whole heap


class Strings:
    """A tensor of strings.

    Attributes:
        name: str or None.
        dtype: 'string'.
        shape: tuple.
        data: list of str, C order.
        is_open: True if only a run knows the shape; the tensor is empty before the first run.
    """

    dtype = "string"
    nbytes = _offset = 0
    _buffer = None  # it is not in the arena

    def __init__(self, shape, data, is_open=False):
        self.name = None
        self.shape = shape
        self.data = data
        self.is_open = is_open

    @property
    def nelem(self):
        """Number of strings."""
        return len(self.data)

    def set(self, shape, data):
        """Set shape and elements to what a run has decided."""
        self.shape = shape
        self.data = data

    def fill(self, x):
        """Copy a caller's strings. Raises InputError."""
        if self.is_open or isinstance(x, (bytes, bytearray, memoryview)):
            raise InputError("{}: strings of shape {} are needed".format(self.name, self.shape))
        is_one = self.shape == (1,) and isinstance(x, str)
        write_all(_StringWriter(self), [x] if is_one else x)


class Maps:
    """A map, or a list of maps.

    Attributes:
        name: str or None.
        dtype: 'map(string,float32)' or 'seq(map(...))'.
        shape: () or (number of maps,).
        data: a dict, or a list of dicts.
        keys, values: dtypes.
    """

    nbytes = _offset = 0
    _buffer = None
    is_open = True

    def __init__(self, dtype):
        self.name = None
        self.is_sequence = dtype & SEQUENCE
        self.keys = "string" if dtype & STRING_KEYS else "int64"
        self.values = VALUES[dtype & 15]
        self.data = [] if self.is_sequence else {}

    @property
    def dtype(self):
        """The dtype's name, such as 'map(int64,float32)' or 'seq(map(int64,float32))'."""
        name = "map({},{})".format(self.keys, self.values)
        return "seq({})".format(name) if self.is_sequence else name

    @property
    def shape(self):
        """(n,) of a sequence, () of one map."""
        return (len(self.data),) if self.is_sequence else ()

    @property
    def nelem(self):
        """Number of maps."""
        return len(self.data) if self.is_sequence else 1

    def fill(self, x):
        """Copy a caller's map, alone or in a list. Raises InputError."""
        if self.is_sequence:
            raise InputError("{}: a list of maps cannot be an input".format(self.name))
        if isinstance(x, (list, tuple)) and len(x) == 1:
            x = x[0]
        if not isinstance(x, dict):
            raise InputError("{}: a dict is needed".format(self.name))
        for key in x:
            _check_entry(self, key, self.keys)
            _check_entry(self, x[key], self.values)
        self.data = dict(x)


def _fail(i, what):
    raise ModelError("not a valid model file: tensor {}: {}".format(i, what))


def check(info, i, flags, is_constant, is_object):
    """Raise ModelError unless a tensor's record is a valid one of strings or maps.

    Args:
        info: the TensorInfo.
        i: number of the tensor.
        flags: flags of the record.
        is_constant: True if the tensor is in the file's data.
        is_object: True if the tensor is in a slot of objects.
    """
    is_map = MAP <= info.dtype < 2 * MAP and (info.dtype & 15) in VALUES
    if info.dtype != STRING and not is_map or flags:
        raise UnsupportedError("tensor {}: dtype {} or flags {}".format(i, info.dtype, flags))
    n = 1
    for d in info.shape:
        if d < OPEN or d == OPEN and is_constant:
            _fail(i, "negative dimension")
        n *= max(d, 1)
        if n > _MOST:
            _fail(i, "too many elements")
    if is_object:
        if is_map and len(info.shape) != (1 if info.dtype & SEQUENCE else 0):
            _fail(i, "rank")
    elif not is_constant or is_map:
        _fail(i, "storage class")


class Slots:
    """Create the tensors of a model. Tensors in one slot share their list of strings."""

    def __init__(self):
        self._taken = {}

    def make(self, reader, info, i):
        """Return tensor i of the file."""
        try:
            if info.chunk is not None:  # a constant
                return Strings(info.shape, _stored(reader, info, i))
            return self._empty(info, i)
        except MemoryError:
            raise UnsupportedError("not enough memory for tensor {}".format(i))

    def _empty(self, info, i):
        if info.dtype == STRING and OPEN not in info.shape:
            return Strings(info.shape, self._shared(info, i))
        if info.offset in self._taken:
            _fail(i, "slot of another one")
        self._taken[info.offset] = None
        if info.dtype != STRING:
            return Maps(info.dtype)
        return Strings(tuple([0 if d == OPEN else d for d in info.shape]), [], True)

    def _shared(self, info, i):
        n = product(info.shape)
        data = self._taken.get(info.offset, ())
        if data == ():
            data = self._taken[info.offset] = [""] * n
        if data is None or len(data) != n:
            _fail(i, "slot of another one")
        return data


def _stored(reader, info, i):
    """Return the strings of a constant."""
    buffer, at = reader.buffer(info, None)
    end = at + info.stored_nbytes
    result = []
    for _ in range(product(info.shape)):
        if at + 4 > end:
            _fail(i, "strings missing")
        nbytes = struct.unpack_from("<I", buffer, at)[0]
        at += 4
        if nbytes > end - at:
            _fail(i, "string beyond its tensor")
        try:
            result.append(str(bytes(memoryview(buffer)[at : at + nbytes]), "utf-8"))
        except UnicodeError:
            _fail(i, "not UTF-8")
        at += nbytes
    if at != end:
        _fail(i, "bytes behind its strings")
    return result


def _check_entry(t, value, dtype):
    kind = str if dtype == "string" else int if dtype == "int64" else (int, float)
    if not isinstance(value, kind):
        raise InputError("{}: {!r} is no {}".format(t.name, value, dtype))


class _StringWriter(Writer):
    def put(self, value, is_pattern=False):
        if not isinstance(value, str):
            raise InputError("{}: {!r} is not a string".format(self.t.name, value))
        if self.at >= self.t.nelem:
            raise InputError("{}: more than {} values".format(self.t.name, self.t.nelem))
        self.t.data[self.at] = value
        self.at += 1


def expect_fixed(node, *tensors):
    """Raise ModelError unless the tensors are strings with shapes that no run changes."""
    node.expect_dtype("string", *tensors)
    for t in tensors:
        node.require(not t.is_open, "strings of a shape that a run decides")
