"""max_pool: largest value of each window over up to three spatial dims, and its index.

    out[b, c, z, y, x] = max over kz, ky, kx of
        x[b, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx]      (inside x only)
    index[b, c, z, y, x] = (b, c) * D * H * W + z' * iz + y' * iy + x' * ix
        of the first such element z', y', x'

Serves MaxPool (all opsets; storage_order by the strides iz, iy, ix).

    x    float32, int8 or uint8 (planes, D, H, W);  out  same dtype (planes, od, oh, ow)
    index  int64, as out; optional
A window that lies in the padding gives the dtype's least value and the index of its plane's first
element. Raises ModelError.
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
_INDEX_STRIDES = const(16)  # [z, y, x] strides of the index
_PADS = const(19)  # [z, y, x] signed
_N_PARAMS = const(22)

CALLS = True

_MINUS_INF = -8388608  # bits of float32
_LEAST = {"float32": _MINUS_INF, "int8": 128, "uint8": 0}
_MOST_TAPS = 4096  # taps, unless the plane has more elements: bounds the work of a damaged file


def prepare(node, calls):
    node.expect(1, 2 if len(node.outputs) == 2 else 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x, 0)
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in _LEAST, "dtype " + x.dtype)
    e, pads = node.extents(0, _PADS), node.signed(_PADS, 3)
    planes, d, h, w = e[:_KD]
    node.require(planes * d * h * w == x.nelem, "input size")
    node.require(planes * e[_OD] * e[_OH] * e[_OW] == out.nelem, "output size")
    for i in range(3):
        far = e[_OD + i] * e[_STRIDES + i] + e[_KD + i] * e[_DILATIONS + i] + abs(pads[i])
        node.require(
            far < BIAS and e[_D + i] * e[_INDEX_STRIDES + i] < BIAS, "strides, dilations or pads"
        )
    if out.nelem == 0:
        return
    taps = e[_KD] * e[_KH] * e[_KW]
    node.require(min(e[_KD:_OD] + e[_DILATIONS:_INDEX_STRIDES]) > 0, "kernel or dilations")
    node.require(taps <= max(_MOST_TAPS, d * h * w), "kernel")
    if x.dtype != "float32" and len(node.outputs) == 1 and _is_planar(e):
        _emit_planes(calls, x, out, e, pads)
        return
    index = None
    if len(node.outputs) == 2:
        index = node.outputs[1]
        node.expect_dtype("int64", index)
        node.require(index.nelem == out.nelem, "size of the indices")
    _emit_rows(calls, x, out, index, e, pads)


def _is_planar(e):
    """Return True for two spatial dims without dilations: loops/maxima takes whole planes."""
    return e[_D] == e[_KD] == e[_OD] == 1 and max(e[_DILATIONS:_INDEX_STRIDES]) == 1


def _emit_planes(calls, x, out, e, pads):
    """Emit calls for whole planes of bytes."""
    rows, columns, out_rows, out_columns = e[_H], e[_W], e[_OH], e[_OW]
    flip = 128 if x.dtype == "int8" else 0
    x, out, maxima = calls.place(x, "B"), calls.place(out, "B"), forms.get("maxima").maxima8
    for first, end in calls.parts(e[_PLANES], rows * columns):
        p = block(
            "maxima",
            x_start=first * (rows * columns),
            out_start=first * (out_rows * out_columns),
            planes=end - first,
            rows=rows,
            columns=columns,
            kernel_rows=e[_KH],
            kernel_columns=e[_KW],
            row_stride=e[_STRIDES + 1],
            column_stride=e[_STRIDES + 2],
            row_padding=pads[1],
            column_padding=pads[2],
            out_rows=out_rows,
            out_columns=out_columns,
            flip=flip,
        )
        calls.call(maxima, x, None, out, p)


def _emit_rows(calls, x, out, index, e, pads):
    """Emit a call for each row of out, and one for its indices unless index is None."""
    planes, depth, rows, columns = e[:_KD]
    out_depth, out_rows, out_columns = e[_OD:_STRIDES]
    least, is_float, loops = _LEAST[x.dtype], x.dtype == "float32", forms.get("pool")
    code = "i" if is_float else "B"
    x, out = calls.place(x, code), calls.place(out, code)
    values = loops.max_row32 if is_float else loops.max_row8
    if index:
        index = calls.place(index, "i")
        find = loops.find_row32 if is_float else loops.find_row8

    def row(plane, z, y):
        start = plane * (depth * rows * columns)
        return block(
            "pool.max_row32",
            x_start=start,
            depth=depth,
            rows=rows,
            columns=columns,
            kernel_depth=e[_KD],
            kernel_rows=e[_KH],
            kernel_columns=e[_KW],
            depth_dilation=e[_DILATIONS],
            row_dilation=e[_DILATIONS + 1],
            column_dilation=e[_DILATIONS + 2],
            corner_depth=z * e[_STRIDES] - pads[0],
            corner_row=y * e[_STRIDES + 1] - pads[1],
            column_padding=pads[2],
            column_stride=e[_STRIDES + 2],
            least=least,  # flip of max_row8
            start=0,
            end=out_columns,
            out_start=((plane * out_depth + z) * out_rows + y) * out_columns,
            index_depth_stride=e[_INDEX_STRIDES],
            index_row_stride=e[_INDEX_STRIDES + 1],
            index_column_stride=e[_INDEX_STRIDES + 2],
            index_start=start,
        )

    for plane in calls.repeat(planes):
        for z in calls.repeat(out_depth):
            for y in calls.repeat(out_rows):
                calls.call(values, x, None, out, row(plane, z, y))
                if index:
                    calls.call(find, x, out, index, row(plane, z, y))
