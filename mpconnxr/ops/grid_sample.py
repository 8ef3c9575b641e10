"""grid_sample: x at given places, interpolated.

    out[b, c, p] = sum over the taps t around place p of weight[t] * x[b, c, t]

where a place is grid[b, p] = (x, y, z), each -1 .. 1 across its dim of x. Serves GridSample (all
opsets) in two and three spatial dims.

    x     float32 or float64 (N, C, D, H, W); D is 1 for two dims
    grid  float32 or float64 (N, P, dims);  out  as x (N, C, P)
    params  N, C, D, H, W, P, dims (2 or 3), mode (0 nearest, 1 linear, 2 cubic),
            padding (0 zeros, 1 border, 2 reflection), align_corners (0 or 1)
A place of nan or inf lies outside. Raises ModelError. A step allocates only boxed floats.
"""

from array import array

from .. import forms
from ..parameters import block


def prepare(node):
    node.expect(2, 1, 10)
    x, grid, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    for t in (x, grid):
        node.require(t.dtype in ("float32", "float64"), "dtype " + t.dtype)
    n, c, d, h, w, places, rank, mode, padding, align = node.extents(0, 10)
    node.require(rank in (2, 3) and mode < 3 and padding < 3 and align < 2, "mode")
    node.require(n * c * d * h * w == x.nelem, "input size")
    node.require(n * places * rank == grid.nelem and n * c * places == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    node.require(min(d, h, w) > 0, "samples of nothing")
    step = _GridSample((x.data, grid.data, out.data), (d, h, w), (c, places, rank))
    step.modes = block(mode, padding, align)
    return n * places, step.step


class _GridSample:
    """The extent is places: batch x P."""

    def __init__(self, views, dims, shape):
        self.x, self.grid, self.out = views
        self.dims = dims
        self.channels, self.places, self.rank = shape
        self.plane = dims[0] * dims[1] * dims[2]
        # by dim, up to 4 taps: where, and how much; then all their combinations
        self.at = [array("i", [0] * 4) for _ in dims]
        self.share = [[1.0] * 4 for _ in dims]
        self.counts = array("i", [1, 1, 1])
        self.flat, self.weights = array("i", [0] * 64), [0.0] * 64
        self.p = block(0, 0, 0, self.channels, self.plane, self.places)
        self.loops = forms.get("grid_sample")

    def step(self, lo, hi):
        p = self.p
        while lo < hi:
            i = 0
            while i < self.rank:
                axis = 2 - i
                taps = self.loops.taps
                self.counts[axis] = taps(
                    self.grid[lo * self.rank + i],
                    self.dims[axis],
                    self.modes,
                    self.at[axis],
                    self.share[axis],
                )
                i += 1
            p[0] = self._combine()
            batch = lo // self.places
            p[1] = batch * self.channels * self.plane
            p[2] = batch * self.channels * self.places + lo % self.places
            self.loops.weigh(self.x, self, self.out, p)
            lo += 1

    def _combine(self):
        """All taps of a place with a weight; returns how many."""
        _, h, w = self.dims
        n = z = 0
        while z < self.counts[0]:
            y = 0
            while y < self.counts[1]:
                share = self.share[0][z] * self.share[1][y]
                row = (self.at[0][z] * h + self.at[1][y]) * w
                x = 0
                while x < self.counts[2]:
                    self.flat[n] = row + self.at[2][x]
                    self.weights[n] = share * self.share[2][x]
                    if self.weights[n] != 0.0:
                        n += 1
                    x += 1
                y += 1
            z += 1
        return n
