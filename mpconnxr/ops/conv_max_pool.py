"""conv_max_pool: convolution and MaxPool behind it, without the plane between, as block_conv.

    out[b, c, y, x] = max over ky < ph, kx < pw of conv[b, c, y*ph + ky, x*pw + kx]

where conv is block_conv's result of one or two spatial dims: the output keeps the largest of them
as they come. Serves Conv and MaxPool whose windows touch one another.

    x     float32 (N, G * C, H, W)
    w     mantissas (G, M, kw * C * kh); then exponents, and biases where there are any, of (G, M):
          see block
    out   float32 (N, G * M, oh, ow)
    scratch  int32: see _block_pieces for rows of 1
    params  N, G, C, H, W, M, kh, kw, oh, ow, ph, pw, strides y, x, dilations y, x, positions whose
            columns of mantissas are in the scratch, positions and channels whose sums are (both
            positions multiples of pw, or within a window), then signed: pads y, x, then the bits
            of low and high that conv is cut to
Raises ModelError. A step allocates nothing unless values are not finite.
"""

from ..parameters import BIAS
from . import _block as blocks
from ._block_pieces import convolution

STREAMS = (1, 2, 3)


def prepare(node):
    node.expect(min(max(len(node.inputs), 3), 4), 1, 23, 1)
    x = node.inputs[0]
    out, scratch = node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", x, out)
    node.expect_dtype("int32", scratch)
    e = node.extents(0, 19)
    n, g, c, h, width, m, kh, kw, oh, ow, ph, pw, sy, sx, dy, dx, positions = e[:17]
    pads = [0] + node.signed(19, 2)
    k = kw * c * kh
    node.require(n * g * c * h * width <= x.nelem, "input size")
    node.require(n * g * m * oh * ow == out.nelem, "output size")
    if out.nelem == 0:
        return 0, None
    node.require(min(kh, kw, sy, sx) > 0 and k <= blocks.MAX_K, "kernel size")
    node.require(min(ph, pw, *e[16:19]) > 0, "windows")
    for some in e[16:18]:
        node.require(some % pw == 0 or pw % some == 0, "positions")
    far = max(oh * ph * sy + kh * dy, 2 * ow * pw * sx + kw * dx)
    node.require(far + abs(pads[1]) + abs(pads[2]) < BIAS, "strides, dilations or pads")
    positions = min(positions, ow * pw)
    shape = [n, g, c, 1, h, width, m, 1, kh, kw, 1, oh * ph, ow * pw, 1, sy, sx, 1, dy, dx]
    shape += [1, positions, 0, g * m * oh * ow, oh * ow, 0, ow, 1]
    return convolution(node, shape, pads, e[17:19], blocks.limits(node, 21), (ph, pw))
