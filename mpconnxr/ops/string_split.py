"""string_split: substrings between delimiters.

    out[i] = the substrings of x[i], padded with empty strings to the length of the longest list
    count[i] = the number of substrings of x[i]

Serves StringSplit (all opsets). An empty delimiter stands for any ASCII white space, which is then
also stripped at both ends, as Python's str.split does.

    x       strings of fixed shape (N);  delimiter  one string, a constant
    out     strings (N, longest), known only at run time;  count  int64 (N)
Raises ModelError. A step allocates the strings and lists that it makes.
"""

from ..io.objects import expect_fixed

# params
_MOST = const(0)  # signed; maximal number of splits, or -1
_DIMS = const(1)  # [*] dims of x

OBJECTS = True


def prepare(node):
    node.expect(2, 2, len(node.params))
    x, delimiter = node.inputs
    out, count = node.outputs
    expect_fixed(node, x, delimiter)
    node.expect_dtype("string", out)
    node.expect_dtype("int64", count)
    node.require(delimiter.nelem == 1 and out.is_open and count.nelem == x.nelem, "sizes")
    node.require(len(node.params) >= 1 and node.params[_MOST] >= -1, "params")
    shape = tuple(node.extents(_DIMS, len(node.params) - _DIMS))
    node.require(shape == x.shape, "dims")
    step = _Split(x.data, out, count.data, shape)
    step.most, step.delimiter = node.params[_MOST], delimiter.data[0] or None
    return 1, step.step


class _Split:
    def __init__(self, x, out, count, shape):
        self.x, self.out, self.count, self.shape = x, out, count, shape

    def step(self, lo, hi):
        parts = [self._parts(s) for s in self.x]
        longest = 0
        for i in range(len(parts)):
            self.count[i] = len(parts[i])
            longest = max(longest, len(parts[i]))
        result = []
        for part in parts:
            result += part + [""] * (longest - len(part))
        self.out.set(self.shape + (longest,), result)

    def _parts(self, s):
        return s.split(self.delimiter, self.most)
