"""dict_vectorizer: values of a map in the order of a list of keys.

    out[i] = x[keys[i]], or 0 (an empty string) if x lacks the key

Serves DictVectorizer (all opsets).

    x    a map;  keys  its key dtype (K);  out  its value dtype (K)
Raises ModelError, and InputError at run time for a number out of the dtype's range. A step
allocates boxed numbers.
"""

from ..errors import InputError
from ..io.objects import Maps

# params: none

OBJECTS = True


def prepare(node):
    node.expect(2, 1, 0)
    x, keys = node.inputs
    out = node.outputs[0]
    node.require(isinstance(x, Maps) and not x.is_sequence, "no map")
    node.expect_dtype(x.keys, keys)
    node.expect_dtype(x.values, out)
    for t in (keys, out):
        node.require(t.nelem == out.nelem and not getattr(t, "is_open", False), "sizes")
    return out.nelem, _DictVectorizer(node.name, x, keys.data, out).step


class _DictVectorizer:
    def __init__(self, name, x, keys, out):
        self.name, self.x, self.keys, self.out = name, x, keys, out.data
        self.default = "" if out.dtype == "string" else 0
        self.checked = out.dtype == "int64"

    def step(self, lo, hi):
        values = self.x.data
        while lo < hi:
            v = values.get(self.keys[lo], self.default)
            if self.checked and not -(1 << 63) <= v < 1 << 63:
                raise InputError("{}: {} is not an int64".format(self.name, v))
            self.out[lo] = v
            lo += 1
