"""grid_sample: x at given places, interpolated.

    out[b, c, p] = sum over the taps t around place p of weight[t] * x[b, c, t]

where a place is grid[b, p] = (x, y, z), each -1 .. 1 across its dim of x. Serves GridSample (all
opsets) in two and three spatial dims.

    x     float32 or float64 (N, C, D, H, W); D is 1 for two dims
    grid  float32 or float64 (N, P, dims);  out  as x (N, C, P)
A place of nan or inf lies outside. In float32 it is computed on the bits (see loops/samples), if
no dim has more than 8192 items: the same bits in every form, and a step allocates nothing where
viper is. Others allocate boxed floats. Raises ModelError.
"""

from .. import forms
from ..parameters import block
from ._inline import Items

# params
_N = const(0)
_C = const(1)
_D = const(2)
_H = const(3)
_W = const(4)
_PLACES = const(5)  # of the grid
_DIMS = const(6)  # 2 or 3
_MODE = const(7)  # 0 nearest, 1 linear, 2 cubic
_PADDING = const(8)  # 0 zeros, 1 border, 2 reflection
_ALIGN_CORNERS = const(9)  # flag
_N_PARAMS = const(10)

# of loops/samples
_MOST = 8192  # items of a dim
_AT_ONCE = 8  # places, and of all of them
_WEIGHTS = 64
_END = 11  # where its parameters say which place is the last one


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    x, grid, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    for t in (x, grid):
        node.require(t.dtype in ("float32", "float64"), "dtype " + t.dtype)
    n, c, d, h, w, places, rank, mode, padding, align = node.extents(0, _N_PARAMS)
    node.require(rank in (2, 3) and mode < 3 and padding < 3 and align < 2, "mode")
    node.require(n * c * d * h * w == x.nelem, "input size")
    node.require(n * places * rank == grid.nelem and n * c * places == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    node.require(min(d, h, w) > 0, "samples of nothing")
    p = [0, 0, c, d, h, w, places, rank, mode, padding, align]
    if x.dtype == grid.dtype == "float32" and max(d, h, w) <= _MOST:
        p += [0, 0, (1, 2, 4)[mode] ** rank]
        return n * places, _OnBits(x, grid, out, block(*p)).step
    loop = forms.get("grid_sample").sample
    return n * places, Items(loop, x.data, grid.data, out.data, block(*p)).step


class _OnBits:
    """The extent is places of all batches."""

    def __init__(self, x, grid, out, p):
        loops, self.p = forms.get("samples"), p
        rank, taps = p[7], p[13]
        p[12] = at_once = max(1, min(_AT_ONCE, _WEIGHTS // taps))
        found, joined = (
            block(*[0] * (9 * rank * at_once)),
            block(*[0] * ((1 + 2 * taps) * at_once)),
        )
        self.loop = loops.sample
        self.needs = [loops.locate, loops.spread, loops.join, loops.weigh, p, grid.view("i")]
        self.needs += [found, joined, x.view("i"), out.view("i")]

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[_END] = hi
        self.loop(self.p, self.needs)
