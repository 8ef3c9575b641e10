"""block_conv: convolution over up to three spatial dims, by groups, in block floating point.

    out[b, g, m, z, y, x] = clip(bias[g, m] + sum over kx, c, kz, ky of
        w[g, m, kx, c, kz, ky]
        * x[b, g, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx])

(zero outside x). Serves Conv (1-D to 3-D, all opsets, any group) and, one call a phase,
ConvTranspose. Values of an image share an exponent, weights of an output channel do; sums are
exact, and rounded once (see loops/block). An image with inf or nan is computed with floats.

    x     float32 (N, G * C, D, H, W)
    w     mantissas (G, M, kw * C * kd * kh); then exponents, and biases where there are any, of
          (G, M): see block
    out   float32, item out_first + b*so_n + (g*M + m)*so_c + z*so_z + y*so_y + x*so_x
    scratch  int32: see _block_pieces
    params  N, G, C, D, H, W, M, kd, kh, kw, od, oh, ow, strides z, y, x, dilations z, y, x,
            rows and positions whose columns of mantissas are in the scratch (rows 1 unless that
            is ow), out_first, so_n, so_c, so_z, so_y, so_x, then signed: pads z, y, x, then the
            bits of low and high of clip, then positions (all of several rows) and channels whose
            sums are in the scratch
Raises ModelError. A step allocates nothing unless values are not finite.
"""

from ..parameters import BIAS
from . import _block as blocks
from ._block_pieces import convolution

STREAMS = (1, 2, 3)
_N_PARAMS = 34


def prepare(node):
    node.expect(min(max(len(node.inputs), 3), 4), 1, _N_PARAMS, 1)
    x = node.inputs[0]
    out, scratch = node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", x, out)
    node.expect_dtype("int32", scratch)
    e = node.extents(0, 27)
    pads = node.signed(27, 3)
    n, g, c, d, h, width, m, kd, kh, kw, od, oh, ow = e[:13]
    k = kw * c * kd * kh
    node.require(n * g * c * d * h * width <= x.nelem, "input size")
    counts = (n, g * m, od, oh, ow)
    if min(counts) == 0:
        return 0, None
    last = e[21] + sum([(counts[i] - 1) * e[22 + i] for i in range(5)])
    node.require(last < out.nelem, "writes beyond the output")
    node.require(n * g * m * od * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(min(kd, kh, kw, *e[13:16]) > 0 and k <= blocks.MAX_K, "kernel size")
    e[19] = min(e[19], oh)
    e[20] = min(e[20], ow)
    node.require(min(e[19:21]) > 0 and (e[19] == 1 or e[20] == ow), "block of rows")
    _check_corners(node, e, pads)
    most = node.extents(32, 2)
    node.require(min(most) > 0, "positions or channels")
    return convolution(node, e, pads, most, blocks.limits(node, 30))


def _check_corners(node, e, pads):
    """Patch coordinates, biased, must stay positive 31-bit numbers in the loop."""
    for i in range(3):
        far = (e[10 + i] + e[19]) * e[13 + i] + (e[7 + i] + 1) * e[16 + i] + abs(pads[i])
        node.require(far < BIAS, "strides, dilations or pads")
