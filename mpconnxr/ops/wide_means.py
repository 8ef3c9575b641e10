"""wide_means: mean of each window of 16-bit integers, in float32 as onnxruntime computes it.

    out[b, c, y, x] = limited(round(mean / y_scale) + zy)
    mean = (sum of (items inside x - zx) * x_scale) / count

float32 has 2**-9 of a step, and where the scales are alike many means lie in the middle between
two integers. What is near it is computed as in qmeans, all else as integers. Serves
mpconnxr:WideAveragePool and WideGlobalAveragePool.

    x    uint16 or int16 (planes, H, W);  out  same dtype (planes, oh, ow)
    x_scale, y_scale  float32, one item, 2**-60 to 2**60
    scratch  int32, 192
    params  planes, H, W, kh, kw, oh, ow, strides y, x, pads at the begin y, x, zx, zy (unsigned:
            int16 + 32768), count, order of the sums (see loops/means), x_scale / y_scale as a
            fraction, below 65 each, count times its numerator up to 8,000
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from .qaverage_pool import windows
from .qmeans import LISTED, InFloats, scale_of

_SIGNS = {"uint16": 0, "int16": 32768}
_LAST = 65535
_MOST = 8000  # items of a sum times what it is multiplied by: they stay below 2**30
_DIGITS = 256  # of float32 behind the point of a step


def prepare(node):
    node.expect(3, 1, 17, 1)
    node.expect_dtype("int32", *node.scratch)
    e, scratch = windows(node, _SIGNS, _LAST), node.scratch[0]
    count, order, up, down = node.extents(13, 4)
    node.require(0 < down < 65 and 0 < up < 65 and order < 3, "ratio of scales, or order")
    items = max(min(e[1], e[3]) * min(e[2], e[4]), count)
    node.require(items * up <= _MOST and 0 < count, "windows")
    node.require(scratch.nelem == LISTED, "scratch")
    x_scale, y_scale = [scale_of(node, t) for t in node.inputs[1:]]
    if node.outputs[0].nelem == 0:
        return 0, None
    near = count * (items + 5) * max(up, down) // _DIGITS + 1
    rest = [count, order, e[11], _SIGNS[node.inputs[0].dtype], near, 0, up, down, 0, 0]
    rest += [x_scale[0] >> 12, x_scale[0] & 4095, x_scale[1]] + y_scale + [e[12], 2, _LAST]
    step = InFloats(node, e, rest)
    views = node.inputs[0].view("H"), node.outputs[0].view("H")
    step.bind(scratch.view("i"), forms.get("wide_means").choose_wide, *views)
    return e[0], step.step
