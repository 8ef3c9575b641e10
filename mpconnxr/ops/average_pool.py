"""average_pool: mean or p-norm of each window, over up to three spatial dims.

    out[b, c, z, y, x] = (sum over the window's elements v of v) / count              power 0
                       = (sum over the window's elements v of abs(v) ** power) ** (1 / power)

where the elements of a window are x[b, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx]
that lie inside x, and count is the number of taps inside x, or inside x and its padding. Serves
AveragePool and LpPool (all opsets). An empty window gives 0 / 0, NaN.

    x    float32 or float64 (planes, D, H, W);  out  same dtype (planes, od, oh, ow)
Raises ModelError. A run allocates only boxed floats.
"""

from .. import forms
from ..blocks import block
from ..parameters import BIAS

# params
_PLANES = const(0)
_D = const(1)
_H = const(2)
_W = const(3)
_KD = const(4)
_KH = const(5)
_KW = const(6)
_OD = const(7)
_OH = const(8)
_OW = const(9)
_STRIDES = const(10)  # [z, y, x]
_DILATIONS = const(13)  # [z, y, x]
_PADS = const(16)  # [z, y, x] at the begin
_END_PADS = const(19)  # [z, y, x]
_COUNTS_PADDING = const(22)  # flag
_POWER = const(23)
_N_PARAMS = const(24)

CALLS = True

_MOST_CALLS = 6  # calls of a repeat: each needs two views of the table's own


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x, 0)
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    e, pads = node.extents(0, _PADS), node.extents(_PADS, 6)
    counted, power = node.extents(_COUNTS_PADDING, 2)
    node.require(e[_PLANES] * e[_D] * e[_H] * e[_W] == x.nelem, "input size")
    node.require(e[_PLANES] * e[_OD] * e[_OH] * e[_OW] == out.nelem, "output size")
    node.require(min(e[_DILATIONS:_PADS]) > 0, "dilations")
    for i in range(3):
        far = e[_OD + i] * e[_STRIDES + i] + e[_KD + i] * e[_DILATIONS + i] + pads[i] + pads[3 + i]
        node.require(far < BIAS, "strides, dilations or pads")
    if out.nelem == 0:
        return
    _, depth, rows, columns, _, _, kernel_columns, out_depth, out_rows, out_columns = e[:_STRIDES]
    padding = pads if counted else [0] * 6
    x, out, average = calls.place(x), calls.place(out), forms.get("average").average_row
    z_runs, y_runs = _runs(0, e, pads, padding), _runs(1, e, pads, padding)
    for plane in _rounds(calls, e[_PLANES], len(z_runs) * len(y_runs)):
        for z, first_plane, kernel_planes, plane_count in _windows(calls, z_runs, len(y_runs)):
            out_row = (plane * out_depth + z) * out_rows
            first_row = (plane * depth + first_plane) * rows
            for y, row, kernel_rows, row_count in _windows(calls, y_runs, 1):
                p = block(
                    "average",
                    x_start=(first_row + row) * columns,
                    kernel_planes=kernel_planes,
                    kernel_rows=kernel_rows,
                    kernel_columns=kernel_columns,
                    kernel_plane_step=e[_DILATIONS] * rows * columns,
                    kernel_row_step=e[_DILATIONS + 1] * columns,
                    kernel_column_step=e[_DILATIONS + 2],
                    columns=columns,
                    column_stride=e[_STRIDES + 2],
                    left_padding=pads[2],
                    counted_left=padding[2],
                    counted_right=padding[5],
                    power=power,
                    count=plane_count * row_count,
                    out_columns=out_columns,
                    out_start=(out_row + y) * out_columns,
                )
                calls.call(average, x, None, out, p)


def _rounds(calls, n, n_calls):
    """Repeat n rounds of n_calls calls; unroll them if they are too many for calls.repeat()."""
    return calls.repeat(n) if n_calls <= _MOST_CALLS else range(n)


def _windows(calls, runs, n_calls):
    """Yield (index, first tap, taps, count) of each window of runs that _runs returned.

    A round has n_calls calls.
    """
    for at, n, first, growth in runs:
        for i in _rounds(calls, n, n_calls):
            yield (
                at + i,
                first[0] + i * growth[0],
                first[1] + i * growth[1],
                first[2] + i * growth[2],
            )


def _runs(i, e, pads, padding):
    """Split the windows along dim i into runs in which start, taps and count grow linearly.

    Returns:
        list: (index of the first window, number of windows, first, growth) per run. `first` has,
            for the
            first window, the index in x of its first tap inside x, the taps inside x, and the taps
                that a
            mean counts. `growth` has the change of each from one window to the next.
    """
    n, size, kernel = e[_OD + i], e[_D + i], e[_KD + i]
    stride, dilation, pad = e[_STRIDES + i], e[_DILATIONS + i], pads[i]
    before = padding[i]
    end_padding = size + before + padding[3 + i]

    def taps(corner, end):
        """Return (first, number) of the taps in 0 .. end - 1."""
        begin = -(corner // dilation) if corner < 0 else 0
        return begin, max(0, min(kernel, -((corner - end) // dilation)) - begin)

    def window(at):
        corner = at * stride - pad
        begin, inside = taps(corner, size)
        return corner + begin * dilation, inside, taps(corner + before, end_padding)[1]

    runs, at = [], 0
    while at < n:
        first = last = window(at)
        growth, end = first, at + 1
        while end < n:
            now = window(end)
            change = now[0] - last[0], now[1] - last[1], now[2] - last[2]
            if end == at + 1:
                growth = change
            # The count of a mean is a product over both dims; only the count of rows may grow.
            if change != growth or i == 0 and change[2]:
                break
            last, end = now, end + 1
        runs.append((at, end - at, first, growth))
        at = end
    return runs
