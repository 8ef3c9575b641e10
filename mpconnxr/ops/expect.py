"""expect: items of a tensor that must be what the model takes for granted.

Serves Reshape, Expand and TopK where a run brings the shape that the model declares, and
OneHotEncoder, where each item has one category.

    x        int32 or int64 (n)
Raises ModelError; InputError for an item of another value. A step allocates integers.
"""

from ..errors import InputError

# params
_CHOICES = const(0)  # [*] any; for each item three values that it may have, the same one again
#     where fewer serve

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
