"""to_float: integers to floats by a scale and an offset per channel, without float arithmetic.

    out[o, c, i] = x[o, c, i] * constants[0, c] + constants[1, c]

Serves mpconnxr:ToFloat: Cast, Mul and Add behind MatMulInteger and ConvInteger with a scale known
only at run time.

    x      int32 (outer, channels, inner);  out  float32, as x; may share memory
    constants  float32 (2, channels); or scale and offset, float32, one element or one per channel,
               and as scratch float32 (2, channels)
Within 2**-23 of the larger of product and offset. Without an FPU the bits are the same on every
board; denormal products and results become 0, overflow gives inf. Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_CHANNELS = const(0)
_INNER = const(1)
_N_PARAMS = const(2)

CALLS = True


def prepare(node, calls):
    apart = len(node.inputs) == 3
    node.expect(2 + apart, 1, _N_PARAMS, int(apart))
    x, out = node.inputs[0], node.outputs[0]
    constants = node.scratch[0] if apart else node.inputs[1]
    node.over(out, x)
    node.expect_dtype("int32", x)
    node.expect_dtype("float32", constants, out, *node.inputs[1:])
    channels, inner = node.extents(0, _N_PARAMS)
    node.require(constants.nelem == 2 * channels and x.nelem == out.nelem, "sizes differ")
    if x.nelem == 0:
        return
    row = channels * inner
    node.require(row > 0 and x.nelem % row == 0, "channels")
    loop = (calls.fpu("fpu_to_float", "to_float") or forms.get("to_float")).to_float32
    n = x.nelem
    x, w, out = calls.place(x, "i"), calls.place(constants, "i"), calls.place(out, "i")
    if apart:
        for i in (1, 2):
            _emit_copy(node, calls, i, w, channels)
    # A call takes rows of all channels; for a single row, channels; for one channel, elements.
    unit, channels_each, elements_each = row, 0, 0
    if n == row:
        if channels > 1:
            unit, channels_each = inner, 1
        else:
            unit, elements_each = 1, 1
    for first, end in calls.parts(n // unit, unit):
        p = block(
            "to_float",
            start=first * unit,
            end=end * unit,
            channels=channels,
            inner=inner,
            channel=first * channels_each,
            left=inner - first * elements_each,
            magnitude_mask=0x7FFFFFFF,
        )
        calls.call(loop, x, w, out, p)


def _emit_copy(node, calls, i, constants, channels):
    """Emit the copy of scale (i = 1) or offset (2) to the scratch, where the loop expects both."""
    t = node.inputs[i]
    node.require(t.nelem in (1, channels), "scale or offset")
    p = block(
        "move",
        start=0,
        end=1,
        rows=1,
        columns=channels,
        x_plane_stride=0,
        x_row_stride=0,
        x_column_stride=int(t.nelem > 1),
        out_plane_stride=0,
        out_row_stride=0,
        out_column_stride=1,
        x_start=0,
        out_start=(i - 1) * channels,
    )
    calls.call(forms.get("move").copy32, calls.place(t, "i"), None, constants, p)
