"""Puts a user's values into the input tensors."""

from .errors import InputError
from .tensor import is_narrow, range_of


def fill(tensors, x):
    """Copies x into the tensors: see Model.run for what x may be. Raises InputError."""
    if isinstance(x, dict):
        _fill_by_name(tensors, x)
    elif len(tensors) == 1:
        fill_one(tensors[0], x)
    elif isinstance(x, (list, tuple)) and len(x) == len(tensors):
        for i in range(len(x)):
            fill_one(tensors[i], x[i])
    else:
        raise InputError("the model has {} inputs: give a list of as many".format(len(tensors)))


def _fill_by_name(tensors, x):
    names = [t.name for t in tensors]
    for name in x:
        if name not in names:
            raise InputError("no input {}; there are {}".format(name, ", ".join(names)))
    for t in tensors:
        if t.name not in x:
            raise InputError("input {} is missing".format(t.name))
        fill_one(t, x[t.name])


def fill_one(t, x):
    """Copies one value into tensor t: bytes in C order, array, list, nested list or number."""
    try:
        _fill_one(t, x)
    except (TypeError, LookupError):  # of what is no sequence, or not as long as it says
        raise InputError("{}: {} {} is needed".format(t.name, t.dtype, t.shape))


def _fill_one(t, x):
    if not hasattr(t, "view"):
        from .objects import fill as fill_object

        fill_object(t, x)
        return
    if hasattr(t, "set_shape"):
        x = t.take(x)
    if isinstance(x, (bytes, bytearray)) or _is_raw(t, x):
        _copy_raw(t, x)
        return
    write_all(Writer(t), x)


def write_all(writer, x):
    """Writes all elements of a tensor. Raises InputError."""
    t = writer.t
    writer.write(x, t.shape)
    if writer.at != t.nelem:
        raise InputError("{}: {} values given, {} needed".format(t.name, writer.at, t.nelem))


def _is_raw(t, x):
    return isinstance(x, memoryview) and len(x) == t.nbytes


def _copy_raw(t, x):
    if len(x) != t.nbytes:
        raise InputError(
            "{}: {} bytes given, {} needed for {} {}".format(
                t.name, len(x), t.nbytes, t.dtype, t.shape
            )
        )
    try:
        t.view("B")[:] = x
    except ValueError:  # a memoryview of wider items
        raise InputError("{}: bytes or {} are needed".format(t.name, t.dtype))


def length_of(x):
    """Number of items of a sequence; None for a number. (Lists have no __len__ attribute here.)"""
    if isinstance(x, str):
        return None
    try:
        return len(x)
    except TypeError:
        return None


def _product(dims):
    n = 1
    for d in dims:
        n *= d
    return n


class Writer:
    """Puts a number, a run of them, or nested lists into a tensor's data."""

    def __init__(self, t):
        self.t = t
        self.data = t.data
        self.at = 0
        self.limits = range_of(t.dtype)
        self.kind = None
        if is_narrow(t.dtype):
            from . import narrow

            self.kind = narrow.kind(t.dtype)
            self.limits = 0, self.kind.patterns - 1

    def write(self, x, shape):
        """Writes a number, a flat run of all remaining values, or lists nested like shape."""
        n = length_of(x)
        if n is None:
            self.put(x)
            return
        nested = n and length_of(x[0]) is not None
        if nested and (not shape or n != shape[0]):
            raise InputError("{}: shape {} is needed".format(self.t.name, self.t.shape))
        if not nested and n != _product(shape):
            raise InputError(
                "{}: {} values where {} {} are needed".format(
                    self.t.name, n, self.t.dtype, self.t.shape
                )
            )
        # integers in an array or a view are patterns of a narrow float, those in a list numbers
        patterns = not isinstance(x, (list, tuple))
        for i in range(n):
            if nested:
                self.write(x[i], shape[1:])
            else:
                self.put(x[i], patterns)

    def put(self, value, is_pattern=False):
        """Writes one value. Raises InputError where it does not fit the dtype."""
        if self.at >= self.t.nelem:
            raise InputError("{}: more than {} values".format(self.t.name, self.t.nelem))
        try:
            if self.kind and not (is_pattern and isinstance(value, int)):
                value = self.kind.encode(value)
            if self.limits and not self.limits[0] <= value <= self.limits[1]:
                raise InputError("{}: {} is no {}".format(self.t.name, value, self.t.dtype))
            self.data[self.at] = value
        except (TypeError, ValueError, OverflowError):
            raise InputError("{}: {!r} is no {}".format(self.t.name, value, self.t.dtype))
        self.at += 1
