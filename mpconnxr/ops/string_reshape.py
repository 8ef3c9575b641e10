"""string_reshape: strings of a number known only at run time in another shape.

Serves Flatten, Identity, Reshape, Squeeze and Unsqueeze (all opsets) on such strings; strings of a
fixed shape need no step.

    x, out  strings
Raises ModelError, and InputError at run time if the strings do not fill the shape. A step
allocates the list of strings.
"""

from ..errors import InputError

# params
_DIMS = const(0)  # [*] signed; dims of out, of which one may be -1: inferred

OBJECTS = True


def prepare(node):
    node.expect(1, 1, len(node.params))
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype("string", x, out)
    node.require(out.is_open, "an output of fixed shape")
    dims = [node.params[i] for i in range(len(node.params))]
    node.require(len(dims) <= 32 and min(dims + [0]) >= -1 and dims.count(-1) <= 1, "dims")
    return 1, _Reshape(node.name, x, out, dims).step


class _Reshape:
    def __init__(self, name, x, out, dims):
        self.name, self.x, self.out, self.dims = name, x, out, dims

    def step(self, lo, hi):
        n, known = self.x.nelem, 1
        for d in self.dims:
            if d >= 0:
                known *= d
        rest = n // known if known else 0
        shape = tuple([rest if d < 0 else d for d in self.dims])
        if known * (rest if -1 in self.dims else 1) != n:
            raise InputError("{}: {} strings do not fill {}".format(self.name, n, shape))
        self.out.set(shape, list(self.x.data))
