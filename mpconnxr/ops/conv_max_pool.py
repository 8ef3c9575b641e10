"""conv_max_pool: convolution and MaxPool in one step, without the plane between them.

    out[b, c, y, x] = max over ky < ph, kx < pw of conv[b, c, y*ph + ky, x*pw + kx]

where conv is block_conv's result of one or two spatial dims. The output accumulates the maximum as
results arrive. Serves Conv followed by a MaxPool whose windows touch one another.

    x     float32 (N, G * C, H, W)
    w     mantissas (G, M, kw * C * kh), then exponents and optional biases of (G, M): see _block
    out   float32 (N, G * M, oh, ow)
    scratch  int32: see _block_pieces, for one row at once
Raises ModelError. A step allocates nothing unless a value is inf or NaN.
"""

from ..parameters import BIAS
from . import _block as blocks
from ._block_pieces import convolution

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
_POOL = const(10)  # [y, x] size of a window, also its stride
_STRIDES = const(12)  # [y, x]
_DILATIONS = const(14)  # [y, x]
_N_POSITIONS = const(16)  # positions whose columns of mantissas are in the scratch at once
_N_SUMS = const(17)  # positions whose sums are; both are multiples of pool.x, or below it
_N_CHANNELS = const(18)  # channels whose sums are
_PADS = const(19)  # [y, x] signed
_LIMITS = const(21)  # [low, high] float: limits of conv
_N_PARAMS = const(23)

CALLS = True
STREAMS = (1, 2, 3)


def prepare(node, calls):
    node.expect(min(max(len(node.inputs), 3), 4), 1, _N_PARAMS, 1)
    x = node.inputs[0]
    out, scratch = node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", x, out)
    node.expect_dtype("int32", scratch)
    e = node.extents(0, _PADS)
    n, g, c, h, width, m, kh, kw, oh, ow, ph, pw, sy, sx, dy, dx, positions = e[:_N_SUMS]
    pads = [0] + node.signed(_PADS, 2)
    k = kw * c * kh
    node.require(n * g * c * h * width <= x.nelem, "input size")
    node.require(n * g * m * oh * ow == out.nelem, "output size")
    if out.nelem == 0:
        return
    node.require(min(kh, kw, sy, sx) > 0 and k <= blocks.MAX_K, "kernel size")
    node.require(min(ph, pw, *e[_N_POSITIONS:_PADS]) > 0, "windows")
    # Bound the work: each output takes the maximum of a window of any size.
    node.require(oh * ph <= h + 2 * kh and ow * pw <= width + 2 * kw, "windows beyond the input")
    for some in e[_N_POSITIONS:_N_CHANNELS]:
        node.require(some % pw == 0 or pw % some == 0, "positions")
    far = max(oh * ph * sy + kh * dy, 2 * ow * pw * sx + kw * dx)
    node.require(far + abs(pads[1]) + abs(pads[2]) < BIAS, "strides, dilations or pads")
    positions = min(positions, ow * pw)
    shape = [n, g, c, 1, h, width, m, 1, kh, kw, 1, oh * ph, ow * pw, 1, sy, sx, 1, dy, dx]
    shape += [1, positions, 0, g * m * oh * ow, oh * ow, 0, ow, 1]
    convolution(node, calls, shape, pads, e[_N_SUMS:_PADS], blocks.limits(node, _LIMITS), (ph, pw))
