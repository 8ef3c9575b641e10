"""block_conv: convolution over up to three spatial dims, by groups, in block floating point.

    out[b, g, m, z, y, x] = clip(bias[g, m] + sum over kx, c, kz, ky of
        w[g, m, kx, c, kz, ky]
        * x[b, g, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx])

(zero outside x). Serves Conv (1-D to 3-D, all opsets, any group) and, one call a phase,
ConvTranspose. Values of an image share an exponent, weights of an output channel do; sums are
exact, and rounded once (see loops_block). An image with inf or nan is computed with floats.

    x     float32 (N, G * C, D, H, W)
    w     mantissas (G, M, kw * C * kd * kh);  tails  int32 (G, M, 4): see block
    out   float32, item out_first + b*so_n + (g*M + m)*so_c + z*so_z + y*so_y + x*so_x
    scratch  int32: what _words says
    params  N, G, C, D, H, W, M, kd, kh, kw, od, oh, ow, strides z, y, x, dilations z, y, x,
            rows and positions that one call of the loops computes (rows 1 unless that is ow),
            out_first, so_n, so_c, so_z, so_y, so_x, then signed: pads z, y, x, then the bits of
            low and high of clip
Raises ModelError. A step allocates nothing unless values are not finite.
"""

from ..node import BIAS, block
from . import block as blocks

STREAMS = (1, 2)
_N_PARAMS = 32


def prepare(node):
    node.expect(3, 1, _N_PARAMS, 1)
    x, w, tails = node.inputs
    out, scratch = node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", x, out)
    node.expect_dtype("int32", tails, scratch)
    e = node.extents(0, 27)
    pads = node.signed(27, 3)
    n, g, c, d, h, width, m, kd, kh, kw, od, oh, ow = e[:13]
    k = kw * c * kd * kh
    node.require(n * g * c * d * h * width <= x.nelem, "input size")
    node.require(g * m * 4 <= tails.nelem, "weights size")
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
    step = _Conv(x, (w.data, tails.data), out, scratch)
    step.set_shape(e, pads, k)
    step.set_weights_of(node, w, g * m, k)
    node.require(step.words <= scratch.nelem, "scratch size")
    step.finish_p.extend(block(*blocks.limits(node, 30)))
    return n * od * step.blocks, step.step


def _check_corners(node, e, pads):
    """Patch coordinates, biased, must stay positive 31-bit numbers in the loop."""
    for i in range(3):
        far = (e[10 + i] + e[19]) * e[13 + i] + (e[7 + i] + 1) * e[16 + i] + abs(pads[i])
        node.require(far < BIAS, "strides, dilations or pads")


class _Conv(blocks.Block):
    """The extent is blocks of output rows: batch x od x blocks."""

    def set_shape(self, e, pads, k):
        self.shape, self.pads = e, pads
        groups, c, m, kw, sx, dx = e[1], e[2], e[6], e[9], e[15], e[18]
        rows, n = e[19:21]
        size = c * e[7] * e[8]
        self.n_image = groups * c * e[3] * e[4] * e[5]
        self.blocks = -(-e[11] // rows)
        self.overlaps = dx == 1 and sx < kw
        self.columns = n * kw
        if self.overlaps:  # a row ends at a multiple of the stride: the next one's follow in step
            self.columns = -(-((n - 1) * sx + kw) // sx) * sx
        self.idle = self.columns // sx - n if self.overlaps else 0
        sums = blocks.INITS + 4 * groups * m
        band = sums + 3 * (m + 1) * rows * (n + self.idle)
        self.words = band + rows * self.columns * size
        self.mantissas_p = block(0, c, *e[3:6] + e[7:9] + e[16:18] + [0, 0, 0])
        self.mantissas_p.extend(block(0, e[14], 1, sx, 0, dx, self.columns, band, 1))
        self.dots_p = block(band, 0, (sx if self.overlaps else kw) * size, k, 0, m, sums)
        self.finish_p = block(sums, 0, m, 0, 0, e[26], e[23], e[25], 0, self.idle)
        self.align_p[1] = groups * m

    def step(self, lo, hi):
        image = -1
        while lo < hi:
            b = lo // (self.blocks * self.shape[10])
            if b != image:
                image = b
                finite = self.exponent(b * self.n_image, self.n_image)
                self.align(self.tails, self.tails, self.scratch, self.align_p)
            self._block(b, lo // self.blocks % self.shape[10], lo % self.blocks, finite)
            lo += 1

    def _block(self, b, z, y, finite):
        e, p, q = self.shape, self.mantissas_p, self.finish_p
        y *= e[19]
        p[9] = z * e[13] - self.pads[0] + BIAS
        p[10] = y * e[14] - self.pads[1] + BIAS
        p[12] = q[8] = min(e[19], e[11] - y)
        q[4] = e[21] + b * e[22] + z * e[24] + y * e[25]
        p[0] = b * self.n_image
        if not finite:
            from .block_special import conv_rows

            conv_rows(self)
            return
        g = 0
        while g < e[1]:
            self._group(g)
            g += 1

    def _group(self, g):
        e, q = self.shape, self.finish_p
        at = q[4]
        self.dots_p[4] = g * e[6] * self.w_step
        q[3] = blocks.INITS + 4 * g * e[6]
        x = 0
        while x < e[12]:
            self._positions(x, min(e[20], e[12] - x))
            q[4] += e[20] * e[26]
            x += e[20]
        q[4] = at + e[6] * e[23]
        self.mantissas_p[0] += self.n_image // e[1]

    def _positions(self, x, n):
        """n output positions of some rows, from x on."""
        p, d, q = self.mantissas_p, self.dots_p, self.finish_p
        p[11] = x * self.shape[15] - self.pads[2] + BIAS
        if not self.overlaps:
            p[14] = n
            p[16] = self.shape[9]
        elif p[12] > 1:
            p[16] = self.columns
        else:
            p[16] = (n - 1) * p[15] + self.shape[9]
        self.mantissas(self.x, self.x, self.scratch, p)
        d[1] = (n + self.idle) * p[12] - self.idle
        self.dots(self.scratch, self.w, self.scratch, d)
        q[1] = n
        self.finish(self.scratch, self.scratch, self.out, q)
