"""slice_extent: start and length of a slice along an axis.

Serves Slice with starts or ends known only at run time: both are clamped to the axis; negative
ones count from its end.

    starts, ends   int32 or int64
Raises ModelError. A step allocates integers.
"""

# params
_FIRST = const(0)  # dim of the start
_COUNT = const(1)  # dim of the number of elements
_PLACE = const(2)  # index in starts and ends
_LENGTH = const(3)  # length of the axis
_STEP = const(4)  # signed; not 0
_N_PARAMS = const(5)


def prepare(node):
    node.expect(2, 0, _N_PARAMS)
    for t in node.inputs:
        node.require(t.dtype in ("int32", "int64"), "dtype " + t.dtype)
    first, number = node.dim(_FIRST), node.dim(_COUNT)
    place, length = node.extents(_PLACE, _STEP - _PLACE)
    step = node.signed(_STEP, 1)[0]
    node.require(step != 0 and place < min([t.nelem for t in node.inputs]), "place or step")
    slices = _Slice([t.data for t in node.inputs], place, length, step)
    slices.first, slices.number = first, number
    return 1, slices.run


class _Slice:
    def __init__(self, ends, place, length, step):
        self.starts, self.ends = ends
        self.place, self.length, self.step = place, length, step

    def _clamped(self, v, least, below):
        if v < 0:
            v += self.length
        return min(max(v, least), self.length + below)

    def run(self, lo, hi):
        below = 0 if self.step > 0 else -1
        first = self._clamped(self.starts[self.place], 0, below)
        end = self._clamped(self.ends[self.place], below, below)
        n = max(-((first - end) // self.step), 0)
        self.first.set(first if n else 0)
        self.number.set(n)
