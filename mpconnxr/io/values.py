"""Write a caller's values into a tensor one by one, and report what does not fit.

Imported for nested lists, for numbers that need conversion, and for values that do not fit.
"""

from ..errors import InputError
from ..tensor import is_narrow, range_of


def fill_one(t, x):
    """Copy a value for which feed.fill_one has no fast way into a tensor.

    The value is bytes, an array, a nested list or a number. Raises InputError if it does not fit.
    """
    try:
        _fill_one(t, x)
    except (TypeError, LookupError):  # of what is no sequence, or not as long as it says
        raise InputError("{}: {} {} is needed".format(t.name, t.dtype, t.shape))


def _fill_one(t, x):
    if not hasattr(t, "view"):
        t.fill(x)
        return
    if hasattr(t, "set_shape"):
        x = t.take(x)
    if isinstance(x, (bytes, bytearray)) or _is_raw(t, x):
        _copy_raw(t, x)
        return
    write_all(Writer(t), x)


def write_all(writer, x):
    """Write all elements of a tensor. Raises InputError."""
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
    except ValueError:  # a memoryview of wider elements
        raise InputError("{}: bytes or {} are needed".format(t.name, t.dtype))


def length_of(x):
    """Return the length of a sequence; None for a number. Here lists have no __len__."""
    if isinstance(x, str):
        return None
    try:
        return len(x)
    except TypeError:
        return None


def product(dims):
    """Return the product of the dimensions, the number of elements."""
    n = 1
    for d in dims:
        n *= d
    return n


class Writer:
    """Write a number, a run of them, or nested lists into a tensor's data."""

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

    def write(self, x, shape, leading=True):
        """Write a number, a flat sequence of all remaining values, or lists nested like shape.

        If `leading`, all dimensions before shape are 1, so that x may lack those of shape, too.
        """
        n = length_of(x)
        if n is None:
            self.put(x)
            return
        nested = n and length_of(x[0]) is not None
        while nested and leading and n > 1 and shape and shape[0] == 1:
            shape = shape[1:]
        if nested and (not shape or n != shape[0]):
            raise InputError("{}: shape {} is needed".format(self.t.name, self.t.shape))
        if not nested and n != product(shape):
            raise InputError(
                "{}: {} values where {} {} are needed".format(
                    self.t.name, n, self.t.dtype, self.t.shape
                )
            )
        # integers in an array or a view are patterns of a narrow float, those in a list numbers
        patterns = not isinstance(x, (list, tuple))
        for i in range(n):
            if nested:
                self.write(x[i], shape[1:], leading and n == 1)
            else:
                self.put(x[i], patterns)

    def put(self, value, is_pattern=False):
        """Write one value. Raises InputError where it does not fit the dtype."""
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
