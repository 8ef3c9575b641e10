"""label_encoder: each element replaced by the value of its key.

    out[i] = values[k] where keys[k] == x[i]; values[K] for NaN; values[K + 1] if no key matches

Serves LabelEncoder and CategoryMapper (all opsets), and OneHotEncoder for strings.

    x       integers, float32, float64 or strings
    keys    x's dtype, K in ascending order
    values  any of these dtypes, K + 2;  out  values' dtype
Raises ModelError. A step allocates only boxed floats and big integers.
"""

from ..tensor import range_of

# params: none

OBJECTS = True
_PLAIN = ("float32", "float64", "string")


def prepare(node):
    node.expect(3, 1, 0)
    x, keys, values = node.inputs
    out = node.outputs[0]
    node.expect_dtype(x.dtype, keys)
    node.expect_dtype(values.dtype, out)
    for t in (x, out):
        node.require(range_of(t.dtype) or t.dtype in _PLAIN, "dtype " + t.dtype)
        node.require(not getattr(t, "is_open", False), "strings of a shape that a run decides")
    node.require(x.nelem == out.nelem and values.nelem == keys.nelem + 2, "sizes")
    return x.nelem, _LabelEncoder(x.data, keys.data, values.data, out.data).step


class _LabelEncoder:
    def __init__(self, x, keys, values, out):
        self.x, self.keys, self.values, self.out = x, keys, values, out

    def step(self, lo, hi):
        while lo < hi:
            self.out[lo] = self.values[self._find(self.x[lo])]
            lo += 1

    def _find(self, v):
        keys = self.keys
        n = high = len(keys)
        low = 0
        if v != v:
            return n
        while low < high:
            middle = (low + high) // 2
            if keys[middle] < v:
                low = middle + 1
            else:
                high = middle
        return low if low < n and keys[low] == v else n + 1
