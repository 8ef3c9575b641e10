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
from ..blocks import block

# params
_PERIODIC = const(0)  # flag; else symmetric
_FACTORS = const(1)  # [a, b, c] float
_COUNT = const(4)  # [?] dim of the number of items; none where it is that of out

CALLS = True


def prepare(node, calls):
    node.require(len(node.params) in (_COUNT, _COUNT + 1), "params")
    node.expect(1, 1, len(node.params))
    size, out = node.inputs[0], node.outputs[0]
    node.require(size.dtype in ("int32", "int64") and size.nelem == 1, "size")
    node.require(out.dtype in ("float32", "float64"), "dtype " + out.dtype)
    node.require(0 <= node.params[_PERIODIC] < 2, "periodic")
    count = node.dim(_COUNT) if len(node.params) > _COUNT else None
    node.require(not count or count.bound <= out.nelem, "output size")
    bits = struct.pack("<iii", *[node.params[_FACTORS + i] for i in range(3)])
    w = array("f", bits), node.name.encode()
    if count:
        return 1, _Sized(count, size.data, w, out.data, node.params[_PERIODIC]).step
    p = block("series.cosines", fixed_length=out.nelem, is_symmetric=1 - node.params[_PERIODIC])
    loop = forms.get("series").cosines
    calls.call(loop, calls.place(size), calls.hold(w), calls.place(out), p)


class _Sized:
    """The loop, and before it the size of its output, which a run decides."""

    def __init__(self, count, size, w, out, is_periodic):
        self.count, self.size, self.w, self.out = count, size, w, out
        self.loop = forms.get("series").cosines
        self.p = block("series.cosines", fixed_length=-1, is_symmetric=1 - is_periodic)

    def step(self, lo, hi):
        self.count.set(self.size[0])
        self.loop(self.size, self.w, self.out, self.p)
