"""quantize: floats to integers and back, by scales and zero points.

    op 0   out = saturate(round(x / scale) + zero_point)        rounded half to even
    op 1   out = (x - zero_point) * scale

Serves QuantizeLinear and DequantizeLinear (all opsets; by tensor, axis or block).

    x      op 0: float32, float64 or int32; op 1: an integer of at most 16 bits, or int32
    scale  float32 or float64, broadcast to x
    zero_point  of the integers' dtype, as many as scales; optional
    out    op 0: an integer of at most 16 bits; op 1: float32 or float64
NaN becomes the zero point. Raises ModelError. A step allocates only boxed floats and integers.
"""

from .. import forms
from ..tensor import range_of
from ._runs import blocks, operands

# params
_BACK = const(0)  # flag: from integers to floats
_RUNS = const(1)  # [_runs]

CALLS = True
STREAMS = (0,)
_FLOATS = ("float32", "float64")
_NARROW = ("int8", "uint8", "int16", "uint16", "int4", "uint4", "int2", "uint2")


def prepare(node, calls):
    node.require(len(node.inputs) in (2, 3) and len(node.params) >= 2, "tensors or params")
    node.expect(len(node.inputs), 1, len(node.params))
    x, scale, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    back = node.params[_BACK]
    node.require(0 <= back < 2, "operation")
    node.require(scale.dtype in _FLOATS, "scale of dtype " + scale.dtype)
    if back:
        node.require(x.dtype in _NARROW or x.dtype == "int32", "dtype " + x.dtype)
        node.require(out.dtype in _FLOATS, "dtype " + out.dtype)
    else:
        node.require(x.dtype in _FLOATS or x.dtype == "int32", "dtype " + x.dtype)
        node.require(out.dtype in _NARROW, "dtype " + out.dtype)
    zeros = scale
    if len(node.inputs) == 3:
        zeros = node.inputs[2]
        node.expect_dtype(x.dtype if back else out.dtype, zeros)
        node.require(zeros.nelem >= scale.nelem, "zero points")
    runs = operands(node, _RUNS, x.nelem, scale.nelem, out.nelem)
    if not runs:
        return
    loops = forms.get("quantize")
    # Parameters after those of pairs: has_zero_points, low, high, is_float64
    loop, more = loops.dequantize, [len(node.inputs) - 2]
    if not back:
        loop, more = loops.quantize, more + list(range_of(out.dtype))
        more.append(int(scale.dtype == "float64"))
    x, w, out = calls.place(x), [calls.place(scale), calls.place(zeros)], calls.place(out)
    w = calls.hold(w)
    for p in blocks(calls, *runs):
        for word in more:
            p.append(word)
        calls.call(loop, x, w, out, p)
