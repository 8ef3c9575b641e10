"""grid_sample: x sampled at the points of a grid, with interpolation.

    out[b, c, p] = sum over the taps t around point p of weight[t] * x[b, c, t]

where a point is grid[b, p] = (x, y, z), each from -1 to 1 across its dim of x. Serves GridSample
(all opsets) in two and three spatial dims.

    x     float32 or float64 (N, C, D, H, W); D is 1 for two dims
    grid  float32 or float64 (N, P, dims);  out  as x (N, C, P)

A point of NaN or inf lies outside. float32 is computed on the bits (see loops/samples) if no dim
has more than 8192 elements: the same bits in every form, and a step allocates nothing where viper
runs. Otherwise it allocates boxed floats. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..loops.samples import _START
from ..parameters import block as words

# params
_N = const(0)
_C = const(1)
_D = const(2)
_H = const(3)
_W = const(4)
_PLACES = const(5)  # points of the grid
_DIMS = const(6)  # 2 or 3
_MODE = const(7)  # 0 nearest, 1 linear, 2 cubic
_PADDING = const(8)  # 0 zeros, 1 border, 2 reflection
_ALIGN_CORNERS = const(9)  # flag
_N_PARAMS = const(10)

CALLS = True

# of loops/samples
_MOST = 8192  # elements of a dim
_AT_ONCE = 8  # points per call
_WEIGHTS = 64


def prepare(node, calls):
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
        return
    node.require(min(d, h, w) > 0, "samples of nothing")
    shape = n * places, c, d, h, w, places, rank
    if x.dtype == grid.dtype == "float32" and max(d, h, w) <= _MOST:
        return _emit_bits(calls, x, grid, out, shape, (mode, padding, align))
    loop = forms.get("grid_sample").sample
    x, grid, out = calls.place(x), calls.place(grid), calls.place(out)
    for start, end in calls.parts(n * places, c):
        p = block(
            "grid_sample",
            start=start,
            end=end,
            channels=c,
            depth=d,
            rows=h,
            columns=w,
            places=places,
            rank=rank,
            interpolation=mode,
            padding_mode=padding,
            is_aligned=align,
        )
        calls.call(loop, x, grid, out, p)


def _emit_bits(calls, x, grid, out, shape, how):
    """Emit calls that compute on the bits of floats, some points per call."""
    n, c, d, h, w, places, rank = shape
    mode, padding, align = how
    taps = (1, 2, 4)[mode] ** rank
    at_once = max(1, min(_AT_ONCE, _WEIGHTS // taps))
    loops = forms.get("samples")
    needs = [loops.locate, loops.spread, loops.join, loops.weigh, calls.part()]
    needs.append(calls.place(grid, "i"))
    needs += [words(*[0] * (9 * rank * at_once)), words(*[0] * ((1 + 2 * taps) * at_once))]
    needs += [calls.place(x, "i"), calls.place(out, "i")]
    for start, end in calls.parts(n, c * taps):
        p = block(
            "samples",
            start=start,
            end=0,
            channels=c,
            depth=d,
            rows=h,
            columns=w,
            places=places,
            rank=rank,
            interpolation=mode,
            padding_mode=padding,
            is_aligned=align,
            whole_end=end,
            places_at_once=at_once,
            taps=taps,
        )
        calls.drive(loops.sample, p, needs, (_START,))
