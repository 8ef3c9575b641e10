"""expect: check elements of a tensor against the values that the model was converted for.

Serves Reshape, Expand and TopK if a run computes a shape that the model declares, and
OneHotEncoder if each element has a single category.

    x        int32 or int64 (n)
Raises ModelError, and InputError for an element of another value. A step allocates integers.
"""

from ..errors import InputError

# params
_CHOICES = const(0)  # [*] any; three allowed values per element, repeated where
#     there are fewer

_EACH = 3


def prepare(node):
    node.expect(1, 0, len(node.params))
    x = node.inputs[0]
    node.require(x.dtype in ("int32", "int64"), "dtype " + x.dtype)
    node.require(len(node.params) == _EACH * x.nelem, "params")
    return x.nelem, _Expect(node.name, x.data, node.params).step


class _Expect:
    def __init__(self, name, x, params):
        self.name, self.x, self.params = name, x, params

    def step(self, lo, hi):
        while lo < hi:
            if not self._fits(self.x[lo], _EACH * lo):
                text = "{}: {} where the model expects {}"
                raise InputError(text.format(self.name, self.x[lo], self.params[_EACH * lo]))
            lo += 1

    def _fits(self, v, at):
        return v == self.params[at] or v == self.params[at + 1] or v == self.params[at + 2]
