"""window: window function of cosines, of a size known only at run time.

    out[i] = a + b * cos(t) + c * cos(2 * t)        t = 2 * pi * i / n

with n - 1 instead of n if the window is symmetric. Serves HannWindow, HammingWindow and
BlackmanWindow (all opsets).

    size     int32 or int64 (1)
    out      float32 or float64, as many elements as there may be at most
Raises ModelError, and InputError for a size that out does not have. A step allocates boxed floats.
"""

import struct
from array import array

from .. import forms
from ..blocks import block

# params
_PERIODIC = const(0)  # flag; else symmetric
_FACTORS = const(1)  # [a, b, c] float
_COUNT = const(4)  # [?] dim of the number of elements; none if out has a constant size

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
    """The loop, preceded by the size of its output if that is known only at run time."""

    def __init__(self, count, size, w, out, is_periodic):
        self.count, self.size, self.w, self.out = count, size, w, out
        self.loop = forms.get("series").cosines
        self.p = block("series.cosines", fixed_length=-1, is_symmetric=1 - is_periodic)

    def step(self, lo, hi):
        self.count.set(self.size[0])
        self.loop(self.size, self.w, self.out, self.p)
