"""window: a sum of cosines over a number of items that is data.

    out[i] = a + b * cos(t) + c * cos(2 * t)        t = 2 * pi * i / n

n - 1 in the place of n if the window is symmetric. Serves HannWindow, HammingWindow and
BlackmanWindow (all opsets).

    size     int32 or int64 (1)
    out      float32 or float64, at least as many items as there may be
Raises ModelError; InputError for a size that out does not have. A step allocates boxed floats.
"""

import struct
from array import array

from .. import forms
from ..parameters import block

# params
_PERIODIC = const(0)  # flag; else symmetric
_FACTORS = const(1)  # [a, b, c] float
_COUNT = const(4)  # [?] dim of the number of items; none where it is that of out


def prepare(node):
    node.require(len(node.params) in (_COUNT, _COUNT + 1), "params")
    node.expect(1, 1, len(node.params))
    size, out = node.inputs[0], node.outputs[0]
    node.require(size.dtype in ("int32", "int64") and size.nelem == 1, "size")
    node.require(out.dtype in ("float32", "float64"), "dtype " + out.dtype)
    node.require(0 <= node.params[_PERIODIC] < 2, "periodic")
    count = node.dim(_COUNT) if len(node.params) > _COUNT else None
    node.require(not count or count.bound <= out.nelem, "output size")
    bits = struct.pack("<iii", *[node.params[_FACTORS + i] for i in range(3)])
    window = _Window(size.data, (array("f", bits), node.name.encode()), out.data)
    window.p = block(-1 if count else out.nelem, 1 - node.params[_PERIODIC])
    window.count = count
    return 1, window.step


class _Window:
    def __init__(self, size, w, out):
        self.size, self.w, self.out = size, w, out
        self.loop = forms.get("series").cosines

    def step(self, lo, hi):
        if self.count:
            self.count.set(self.size[0])
        self.loop(self.size, self.w, self.out, self.p)
