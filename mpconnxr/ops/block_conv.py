"""block_conv: convolution over up to three spatial dims, by groups, in block floating point.

    out[b, g, m, z, y, x] = clip(bias[g, m] + sum over kx, c, kz, ky of
        w[g, m, kx, c, kz, ky]
        * x[b, g, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx])

(zero outside x). Serves Conv (1-D to 3-D, all opsets, any group) and, one call a phase,
ConvTranspose. Values of an image share an exponent, weights of an output channel do; sums are
exact, and rounded once (see loops_block). An image with inf or nan is computed with floats.

    x     float32 (N, G * C, D, H, W)
    w     mantissas (G, M, kw * C * kd * kh);  tails  int32 (G, M, 3): see block
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
    node.require(g * m * 3 <= tails.nelem, "weights size")
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
    loops = blocks.fpu_loops(w)
    if loops:
        from . import block_vfp

        node.require(g * m * k <= w.nelem, "weights size")
        tensors = x, w, tails, out, scratch
        found = block_vfp.convolution(loops, tensors, e, pads, blocks.limits(node, 30))
        if found:
            return found
    step = Conv(x, (w.data, tails.data), out, scratch)
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


class Conv(blocks.Block):
    """The extent is blocks of output rows: batch x od x blocks."""

    def set_shape(self, e, pads, k):
        self.shape, self.pads = e, pads
        self.image, self.finite = -1, True
        groups, c, m, kw, sx, dx = e[1], e[2], e[6], e[9], e[15], e[18]
        rows, n = e[19:21]
        size = c * e[7] * e[8]
        self.n_image = groups * c * e[3] * e[4] * e[5]
        self.blocks = -(-e[11] // rows)
        self.overlaps = dx == 1 and sx < kw and rows * n > 1
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
        self.image = -1
        while lo < hi:
            self._image(lo // (self.blocks * self.shape[10]))
            self._place(lo)
            if self.finite:
                self._groups()
            else:
                self.special()
            lo += 1

    def _image(self, b):
        if b != self.image:
            self.image = b
            self.finite = self.exponent(b * self.n_image, self.n_image)
            self.align(self.tails, self.tails, self.scratch, self.align_p)

    def _place(self, lo):
        """Sets the loops' parameters for a block of rows."""
        e, p = self.shape, self.mantissas_p
        y = lo % self.blocks * e[19]
        lo = lo // self.blocks % e[10]
        p[0] = self.image * self.n_image
        p[9] = lo * e[13] - self.pads[0] + BIAS
        p[10] = y * e[14] - self.pads[1] + BIAS
        p[12] = self.finish_p[8] = min(e[19], e[11] - y)
        y = y * e[25] + lo * e[24]
        self.finish_p[4] = e[21] + self.image * e[22] + y

    def _groups(self):
        e = self.shape
        self.dots_p[4] = 0
        self.finish_p[3] = blocks.INITS
        g = 0
        while g < e[1]:
            at = self.finish_p[4]
            self._group(e[12], e[20])
            self.finish_p[4] = at + e[6] * e[23]
            self.finish_p[3] += 4 * e[6]
            self.dots_p[4] += e[6] * self.w_step
            self.mantissas_p[0] += self.n_image // e[1]
            g += 1

    def _group(self, width, n):
        """Rows of one group, n positions at a time."""
        x = 0
        while x < width:
            self.mantissas_p[11] = x * self.mantissas_p[15] - self.pads[2] + BIAS
            self._columns(min(n, width - x))
            self.mantissas(self.x, self.x, self.scratch, self.mantissas_p)
            self.sums()
            self.finish_p[4] += n * self.finish_p[5]
            x += n

    def _columns(self, n):
        """Sets the loops' parameters for n positions of each row."""
        p = self.mantissas_p
        if not self.overlaps:
            p[14] = n
            p[16] = self.shape[9]
        elif p[12] > 1:
            p[16] = self.columns
        else:
            p[16] = (n - 1) * p[15] + self.shape[9]
        self.dots_p[1] = (n + self.idle) * p[12] - self.idle
        self.finish_p[1] = n

    def special(self):
        """The same rows, of an image that is not finite."""
        from .block_special import conv_rows

        conv_rows(self)
