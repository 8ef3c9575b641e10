"""block_conv: convolution over up to three spatial dims, grouped, in block floating point.

    out[b, g, m, z, y, x] = clip(bias[g, m] + sum over kx, c, kz, ky of
        w[g, m, kx, c, kz, ky]
        * x[b, g, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx])

(zero outside x). Serves Conv (1-D to 3-D, all opsets, any group) and, one node per phase,
ConvTranspose. All values of an image share one exponent, and so do all weights of an output
channel. x is rounded to mantissas of 24 bits; sums of their products are exact; a bias loses the
bits below their unit; the result is rounded once (see loops/block). An image with inf or NaN is
computed with floats. Short mantissas (_block) have sums of fewer bits, and an FPU (_block_vfp)
sums floats: their results differ in bits.

So do those of means, which take less time: windows of 2 to 64 elements in two spatial dims, of one
input and one output channel, whose weights of 24 bits are equal and positive, without bias and
limits. Elements, sums and results are rounded, see loops/averages. An FPU does not compute them
so.

    x     float32 (N, G * C, D, H, W)
    w     mantissas (G, M, kw * C * kd * kh), then exponents and optional biases of (G, M): see
          _block
    out   float32, element out_first + b*so_b + (g*M + m)*so_m + z*so_z + y*so_y + x*so_x
    scratch  int32: the exponent of the image, three unused words, initial sums of the channels,
             sums, mantissas of x (see convolution_places in _block; _block_vfp and
             loops/averages use it in ways of their own)
Raises ModelError. A step allocates nothing unless a value is inf or NaN.
"""

from ..parameters import BIAS
from . import _block as blocks
from ._block_pieces import convolution

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
_STRIDES = const(13)  # [z, y, x]
_DILATIONS = const(16)  # [z, y, x]
_N_ROWS = const(19)  # rows whose mantissas are in the scratch at once; 1 unless n_positions is ow
_N_POSITIONS = const(20)  # positions of a row whose mantissas are in the scratch at once
_OUT_FIRST = const(21)  # element of out that is written first
_OUT_STRIDES = const(22)  # [b, m, z, y, x] in elements
_PADS = const(27)  # [z, y, x] signed
_LIMITS = const(30)  # [low, high] float: limits of the result
_N_SUMS = const(32)  # positions of a row whose sums are in the scratch at once; all if n_rows > 1
_N_CHANNELS = const(33)  # channels whose sums are in the scratch at once
_N_PARAMS = const(34)

CALLS = True
STREAMS = (1, 2, 3)


def prepare(node, calls):
    node.expect(min(max(len(node.inputs), 3), 4), 1, _N_PARAMS, 1)
    x = node.inputs[0]
    out, scratch = node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", x, out)
    node.expect_dtype("int32", scratch)
    e = node.extents(0, _PADS)
    pads = node.signed(_PADS, 3)
    n, g, c, d, h, width, m, kd, kh, kw, od, oh, ow = e[:_STRIDES]
    k = kw * c * kd * kh
    node.require(n * g * c * d * h * width <= x.nelem, "input size")
    counts = (n, g * m, od, oh, ow)
    if min(counts) == 0:
        return
    last = e[_OUT_FIRST] + sum([(counts[i] - 1) * e[_OUT_STRIDES + i] for i in range(5)])
    node.require(last < out.nelem, "writes beyond the output")
    node.require(n * g * m * od * oh * ow <= out.nelem, "writes more than the output holds")
    node.require(min(kd, kh, kw, *e[_STRIDES:_DILATIONS]) > 0 and k <= blocks.MAX_K, "kernel size")
    e[_N_ROWS] = rows = min(e[_N_ROWS], oh)
    e[_N_POSITIONS] = positions = min(e[_N_POSITIONS], ow)
    node.require(min(rows, positions) > 0 and (rows == 1 or positions == ow), "block of rows")
    _check_corners(node, e, pads)
    at_once = node.extents(_N_SUMS, 2)
    node.require(min(at_once) > 0, "positions or channels")
    convolution(node, calls, e, pads, at_once, blocks.limits(node, _LIMITS))


def _check_corners(node, e, pads):
    """Check that biased patch coordinates stay positive 31-bit numbers in the loop."""
    for i in range(3):
        far = (e[_OD + i] + e[_N_ROWS]) * e[_STRIDES + i]
        far += (e[_KD + i] + 1) * e[_DILATIONS + i] + abs(pads[i])
        node.require(far < BIAS, "strides, dilations or pads")
