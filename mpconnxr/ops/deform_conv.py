"""deform_conv: convolution whose taps are displaced by an input.

    out[b, g, m, y, x] = bias[g, m] + sum over c, ky, kx of
        w[g, m, c, ky, kx] * mask[b, o, ky, kx, y, x]
        * sample(x[b, g, c], y * sy - py + ky * dy + offset[b, o, ky, kx, 0, y, x],
                             x * sx - px + kx * dx + offset[b, o, ky, kx, 1, y, x])

where sample interpolates bilinearly, zero outside x, and o is the channel's offset group. Serves
DeformConv (all opsets) in two dims.

    x       float32 (N, G * C, H, W)
    w       float32 (G, M, C * kh * kw + has_bias): the bias lies behind its row
    offset  float32 (N, O * kh * kw * 2, oh, ow);  mask  float32 (N, O * kh * kw, oh, ow), optional
    out     float32 (N, G * M, oh, ow);  scratch  float32, one patch: C * kh * kw
Raises ModelError. A step allocates only boxed floats.
"""

from .. import forms
from ..blocks import block

# params
_N = const(0)
_G = const(1)
_C = const(2)
_H = const(3)
_W = const(4)
_M = const(5)
_KH = const(6)
_KW = const(7)
_OH = const(8)
_OW = const(9)
_OFFSET_GROUPS = const(10)
_HAS_BIAS = const(11)  # flag
_STRIDES = const(12)  # [y, x]
_DILATIONS = const(14)  # [y, x]
_PADS = const(16)  # [y, x] signed
_N_PARAMS = const(18)

CALLS = True


def prepare(node, calls):
    node.require(len(node.inputs) in (3, 4), "inputs")
    node.expect(len(node.inputs), 1, _N_PARAMS, 1)
    node.expect_dtype("float32", *node.inputs + node.outputs + node.scratch)
    x, w, offset = node.inputs[:3]
    out, patch = node.outputs[0], node.scratch[0]
    e, pads = node.extents(0, _PADS), node.signed(_PADS, 2)
    n, g, c, h, width, m, kh, kw, oh, ow, o, has_bias = e[:_STRIDES]
    k = c * kh * kw
    node.require(n * g * c * h * width == x.nelem and has_bias < 2, "input size")
    node.require(g * m * (k + has_bias) == w.nelem and k <= patch.nelem, "weights or scratch size")
    node.require(n * g * m * oh * ow == out.nelem, "output size")
    node.require(o > 0 and g * c % o == 0, "offset groups")
    node.require(n * o * kh * kw * 2 * oh * ow == offset.nelem, "offset size")
    mask = node.inputs[3] if len(node.inputs) == 4 else None
    node.require(mask is None or mask.nelem * 2 == offset.nelem, "mask size")
    if out.nelem == 0:
        return
    offsets = calls.hold([calls.place(offset), calls.place(mask or offset)])
    sample, dots = forms.get("deform").deformed_patch, forms.get("dot").dots_f32
    x, w, patch, out = [calls.place(t) for t in (x, w, patch, out)]
    for batch in calls.repeat(n):
        for row in calls.repeat(oh):
            for column in calls.repeat(ow):
                at = row * ow + column
                for group in calls.repeat(g):
                    p = block(
                        "deform",
                        x_start=(batch * g + group) * c * h * width,
                        channel=group * c,
                        channels=c,
                        rows=h,
                        columns=width,
                        kernel_rows=kh,
                        kernel_columns=kw,
                        row_dilation=e[_DILATIONS],
                        column_dilation=e[_DILATIONS + 1],
                        corner_row=row * e[_STRIDES] - pads[0],
                        corner_column=column * e[_STRIDES + 1] - pads[1],
                        mask_start=batch * o * kh * kw * oh * ow + at,
                        tap_stride=oh * ow,
                        channels_per_offset=g * c // o,
                        has_mask=int(mask is not None),
                    )
                    calls.call(sample, x, offsets, patch, p)
                    p = block(
                        "dot.dots_f32",
                        x_start=0,
                        columns=k,
                        out_start=(batch * g + group) * m * oh * ow + at,
                        out_stride=oh * ow,
                        has_bias=has_bias,
                        w_start=group * m * (k + has_bias),
                        rows=m,
                    )
                    calls.call(dots, patch, w, out, p)
