"""Inputs whose sizes the caller decides, run by run, up to a bound (--bound).

Imported only for a model that has some.
"""

from ..errors import InputError, fail
from ..io.values import length_of
from .runtime import OpenTensor


class OpenInput(OpenTensor):
    """An input of which at least one dimension may have any size in a run, 1 to its bound.

    set_shape(shape), or values of that shape given to run(), decide the sizes for the runs that
    follow.
    """

    def __init__(self, runtime, buffer, offset, info, name):
        OpenTensor.__init__(self, runtime, buffer, offset, info, name)
        runtime.inputs.append(self)
        self._dims = {}  # number of the run-time dim by axis
        for axis in range(len(self.raw)):
            if self.raw[axis] < 0:
                self._dims[axis] = runtime.claim(self.raw[axis])
                if self._dims[axis] is None:
                    fail("the shape of an input follows from others")

    def set_shape(self, shape):
        """Decide the shape. Raises InputError."""
        is_shape = isinstance(shape, (list, tuple)) and all([isinstance(d, int) for d in shape])
        good = is_shape and len(shape) == len(self.raw)
        for axis in range(len(self.raw)):
            if good and axis in self._dims:
                good = 1 <= shape[axis] <= self._runtime.bounds[self._dims[axis]]
            elif good:
                good = shape[axis] == self.raw[axis]
        if not good:
            self._refuse(tuple(shape) if is_shape else "without integers")
        for axis in self._dims:
            self._runtime.values[self._dims[axis]] = shape[axis]
        self.resize()

    def _refuse(self, shape):
        bounds = self._runtime.bounds
        expected = [str(d) for d in self.raw]
        for axis in self._dims:
            expected[axis] = "1 to {}".format(bounds[self._dims[axis]])
        raise InputError(
            "{}: shape {} where ({}) is needed (--bound)".format(
                self.name, shape, ", ".join(expected)
            )
        )

    def check(self):
        """Raise InputError unless the shape is decided, and agrees with other inputs."""
        if not self.nelem:
            raise InputError("{}: give its values to run(), or set_shape()".format(self.name))
        if self._runtime.shape(self.raw) != self.shape:
            raise InputError(
                "{}: shape {} does not go with another input's".format(self.name, self.shape)
            )

    def take(self, x):
        """Decide the shape by a caller's value, or by (value, shape); return the value."""
        pair = isinstance(x, tuple) and len(x) == 2 and isinstance(x[1], tuple)
        if pair and not isinstance(x[0], tuple):
            self.set_shape(x[1])
            return x[0]
        self.set_shape(self._shape_of(x))
        return x

    def _shape_of(self, x):
        """Return the shape of a value that a caller passes.

        The length of bytes, or of a flat list for several dims, decides the one dim that is not
        fixed.
        """
        if isinstance(x, (bytes, bytearray)):
            return self._solved(len(x) // self._size)
        shape = []
        y = x
        while length_of(y) is not None and len(shape) <= len(self.raw):  # a list may hold itself
            shape.append(len(y))
            if not len(y):
                break
            y = y[0]
        if len(shape) == 1 and len(self.raw) > 1:
            return self._solved(shape[0])
        if shape:  # which may lack leading dimensions of 1: set_shape checks it
            shape = [1] * (len(self.raw) - len(shape)) + shape
        return tuple(shape)

    def _solved(self, nelem):
        """Return the shape of nelem elements, if only one dimension is open."""
        fixed = 1
        for d in self.raw:
            fixed *= d if d > 0 else 1
        if len(self._dims) != 1 or nelem % fixed:
            raise InputError(
                "{}: {} values in a row: give (values, shape)".format(self.name, nelem)
            )
        return tuple([d if d >= 0 else nelem // fixed for d in self.raw])
