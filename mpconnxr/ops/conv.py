"""conv: convolution over up to three spatial dims, grouped.

    out[b, g, m, z, y, x] = bias[g, m] + sum over c, kz, ky, kx of
        w[g, m, c, kz, ky, kx]
        * x[b, g, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx]

(zero outside x). Serves Conv (1-D to 3-D, all opsets, any group) and, one call per phase,
ConvTranspose, for which the output is strided; in int32, wrapping around, also ConvInteger and
QLinearConv.

    x    float32 or int32 (N, G * C, D, H, W)
    w    same dtype (G, M, C * kd * kh * kw + has_bias): the bias lies behind its row
    out  same dtype, element out_first + b*so_n + (g*M + m)*so_c + z*so_z + y*so_y + x*so_x
    scratch  one patch: C * kd * kh * kw elements of the same dtype
Raises ModelError. A run allocates only boxed floats and big integers.
"""

from .. import forms
from ..blocks import block
from ..parameters import BIAS

# params
_N = const(0)
_G = const(1)
_C = const(2)
_D = const(3)
_H = const(4)
_W = const(5)
_M = const(6)
_KD = const(7)
_KH = const(8)
_KW = const(9)
_OD = const(10)
_OH = const(11)
_OW = const(12)
_HAS_BIAS = const(13)  # flag
_STRIDES = const(14)  # [z, y, x]
_DILATIONS = const(17)  # [z, y, x]
_OUT_FIRST = const(20)  # element of out that is written first
_OUT_STRIDES = const(21)  # [b, m, z, y, x] in elements
_PADS = const(26)  # [z, y, x] signed
_N_PARAMS = const(29)

CALLS = True
STREAMS = (1,)


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w, out, patch = node.inputs + node.outputs + node.scratch
    node.require(x.dtype in ("float32", "int32"), "dtype " + x.dtype)
    node.expect_dtype(x.dtype, w, out, patch)
    e = node.extents(0, _PADS)
    pads = node.signed(_PADS, 3)
    n, g, c, d, h, width, m, kd, kh, kw, od, oh, ow, has_bias = e[:_STRIDES]
    k = c * kd * kh * kw
    node.require(n * g * c * d * h * width <= x.nelem and has_bias < 2, "input size")
    node.require(g * m * (k + has_bias) == w.nelem and k <= patch.nelem, "weights or scratch size")
    counts = (n, g * m, od, oh, ow)
    last = e[_OUT_FIRST] + sum([(counts[i] - 1) * e[_OUT_STRIDES + i] for i in range(5)])
    if min(counts) == 0:
        return
    node.require(last < out.nelem, "writes beyond the output")
    node.require(n * g * m * od * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(min(kd, kh, kw) > 0, "an empty kernel")
    _check_corners(node, e, pads)
    patches, dots = _patches(calls, x, patch, e, pads), _dots(calls, w, out, patch, e, k)
    out_batch, out_channel, out_plane, out_row, out_column = e[_OUT_STRIDES:_PADS]
    for batch in calls.repeat(n):
        for z in calls.repeat(od):
            for y in calls.repeat(oh):
                at = e[_OUT_FIRST] + batch * out_batch + z * out_plane + y * out_row
                for column in calls.repeat(ow):
                    for group in calls.repeat(g):
                        patches(batch, group, z, y, column)
                        dots(group, at + column * out_column + group * (m * out_channel))


def _check_corners(node, e, pads):
    """Check that biased patch coordinates stay positive 31-bit numbers in the loop."""
    for i in range(3):
        far = e[_OD + i] * e[_STRIDES + i] + e[_KD + i] * e[_DILATIONS + i] + abs(pads[i])
        node.require(far < BIAS, "strides, dilations or pads")


def _patches(calls, x, patch, e, pads):
    """Return a function that emits the call that gathers a patch."""
    groups, channels, planes, rows, columns = e[_G:_M]
    volume = planes * rows * columns
    gather, x, patch = forms.get("conv").im2col32, calls.place(x, "i"), calls.place(patch, "i")

    def emit(batch, group, z, y, column):
        p = block(
            "conv",
            x_start=(batch * groups + group) * (channels * volume),
            channels=channels,
            planes=planes,
            rows=rows,
            columns=columns,
            kernel_planes=e[_KD],
            kernel_rows=e[_KH],
            kernel_columns=e[_KW],
            plane_dilation=e[_DILATIONS],
            row_dilation=e[_DILATIONS + 1],
            column_dilation=e[_DILATIONS + 2],
            corner_plane=z * e[_STRIDES] - pads[0],
            corner_row=y * e[_STRIDES + 1] - pads[1],
            corner_column=column * e[_STRIDES + 2] - pads[2],
        )
        calls.call(gather, x, None, patch, p)

    return emit


def _dots(calls, w, out, patch, e, k):
    """Return a function that emits the call that multiplies a patch by a group's weights."""
    rows, has_bias, out_stride = e[_M], e[_HAS_BIAS], e[_OUT_STRIDES + 1]
    group_weights = rows * (k + has_bias)
    is_int, loops = out.dtype == "int32", forms.get("dot")
    w, out, patch = calls.place(w), calls.place(out), calls.place(patch)

    def emit(group, out_start):
        if is_int:
            dots = loops.dots_int
            p = block(
                "dot.dots_int",
                x_start=0,
                columns=k,
                out_start=out_start,
                out_stride=out_stride,
                has_bias=has_bias,
                w_start=group * group_weights,
                rows=rows,
                signed_bits=32,
                bits_per_element=32,
            )
        else:
            dots = loops.dots_f32
            p = block(
                "dot.dots_f32",
                x_start=0,
                columns=k,
                out_start=out_start,
                out_stride=out_stride,
                has_bias=has_bias,
                w_start=group * group_weights,
                rows=rows,
            )
        calls.call(dots, patch, w, out, p)

    return emit
