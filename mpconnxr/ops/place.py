"""place: write one slice of a tensor at an index known only at run time.

    out[o, index, i] = x[o, i]

Serves the outputs of Scan and Loop, round by round (any dtype).

    x        outer * inner elements;  index  int64 (1)
    out      outer * n * inner elements; the other slices keep their contents
Raises ModelError, and InputError at run time for an index outside of 0 .. n - 1. Allocates
nothing.
"""

from .. import forms
from ..blocks import block
from ..errors import InputError
from ..loops.move import _OUT_START
from ..parameters import BIAS

# params
_UNIT = const(0)  # bytes of an element: 1 or 4
_OUTER = const(1)
_N = const(2)
_INNER = const(3)  # elements
_N_PARAMS = const(4)

_CODES = {1: "B", 4: "i"}


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    x, index, out = node.inputs[0], node.inputs[1], node.outputs[0]
    size, outer, n, inner = node.extents(0, _N_PARAMS)
    node.require(size in _CODES, "element size")
    node.expect_dtype("int64", index)
    node.require(index.nelem > 0, "empty index")
    x, out = x.view(_CODES[size]), out.view(_CODES[size])
    node.require(outer * inner <= len(x) and outer * n * inner <= len(out), "sizes")
    place = _Place(x, index.data, out, (n, inner))
    place.name = node.name
    loops = forms.get("move")
    place.loop = loops.copy8 if size == 1 else loops.copy32
    place.p = block(
        "move",
        start=0,
        end=1,
        rows=outer,
        columns=inner,
        x_plane_stride=0,
        x_row_stride=inner,
        x_column_stride=1,
        out_plane_stride=0,
        out_row_stride=n * inner,
        out_column_stride=1,
        x_start=0,
        out_start=0,
    )
    return 1, place.step


class _Place:
    def __init__(self, x, index, out, shape):
        self.x, self.index, self.out = x, index, out
        self.n, self.inner = shape

    def step(self, lo, hi):
        i = self.index[0]
        if not 0 <= i < self.n:
            raise InputError("{}: index {} of {}".format(self.name, i, self.n))
        self.p[_OUT_START] = BIAS + i * self.inner
        self.loop(self.x, self.x, self.out, self.p)
