"""conv_max_pool: convolution and MaxPool behind it, without the plane between, as block_conv.

    out[b, c, y, x] = max over ky < ph, kx < pw of conv[b, c, y*ph + ky, x*pw + kx]

where conv is block_conv's result of one or two spatial dims. A band of some windows is computed,
then pooled. Serves Conv and MaxPool whose windows touch one another.

    x     float32 (N, G * C, H, W)
    w     mantissas (G, M, kw * C * kh);  tails  int32 (G, M, 3): see block
    out   float32 (N, G * M, oh, ow)
    scratch  int32: what block_conv counts for rows of 1;  float32 (M, ph, pw * windows of a band)
    params  N, G, C, H, W, M, kh, kw, oh, ow, ph, pw, strides y, x, dilations y, x, positions that
            one call of the loops computes, windows of a band, then signed: pads y, x, then the
            bits of low and high that conv is cut to
Raises ModelError. A step allocates nothing unless values are not finite.
"""

from .. import forms
from ..node import BIAS, block
from . import block as blocks
from .block_conv import Conv

STREAMS = (1, 2)


def prepare(node):
    node.expect(3, 1, 22, 2)
    x, w, tails = node.inputs
    out, (scratch, band) = node.outputs[0], node.scratch
    node.expect_dtype("float32", x, out, band)
    node.expect_dtype("int32", tails, scratch)
    n, g, c, h, width, m, kh, kw, oh, ow, ph, pw, sy, sx, dy, dx, positions, windows = (
        node.extents(0, 18)
    )
    pads = [0] + node.signed(18, 2)
    k = kw * c * kh
    node.require(n * g * c * h * width <= x.nelem, "input size")
    node.require(g * m * 3 <= tails.nelem, "weights size")
    node.require(n * g * m * oh * ow == out.nelem, "output size")
    if out.nelem == 0:
        return 0, None
    node.require(min(kh, kw, sy, sx) > 0 and k <= blocks.MAX_K, "kernel size")
    node.require(min(ph, pw, positions, windows) > 0, "windows")
    far = max(oh * ph * sy + kh * dy, (ow + windows) * pw * sx + kw * dx)
    node.require(far + abs(pads[1]) + abs(pads[2]) < BIAS, "strides, dilations or pads")
    row = pw * windows
    node.require(m * ph * row <= band.nelem, "band size")
    positions = min(positions, row)
    loops = blocks.fpu_loops(w)
    if loops:
        from . import block_vfp

        node.require(g * m * k <= w.nelem, "weights size")
        e = [n, g, c, 1, h, width, m, 1, kh, kw, 1, oh * ph, ow * pw, 1, sy, sx, 1, dy, dx, 1, 1]
        e += [0, g * m * oh * ow, oh * ow, 0, ow, 1]
        tensors = x, w, tails, out, scratch
        found = block_vfp.convolution(loops, tensors, e, pads, blocks.limits(node, 20), (ph, pw))
        if found:
            return found
    step = _ConvMaxPool(x, (w.data, tails.data), band, scratch)
    e = [n, g, c, 1, h, width, m, 1, kh, kw, 1, oh * ph, ow * pw, 1, sy, sx, 1, dy, dx]
    step.set_shape(e + [1, positions, 0, 0, ph * row, 0, row, 1], pads, k)
    step.set_weights_of(node, w, g * m, k)
    node.require(step.words <= scratch.nelem, "scratch size")
    step.finish_p.extend(block(*blocks.limits(node, 20)))
    step.set_pool(out, (oh, ow, ph, pw, windows))
    return n * oh, step.step


class _ConvMaxPool(Conv):
    """The extent is rows of the output: batch x oh."""

    def set_pool(self, out, sizes):
        self.oh, self.ow, self.ph, pw, self.windows = sizes
        self.pooled = out.view("i")
        self.pool = forms.get("loops_band").pool
        self.pool_p = block(self.shape[6], self.ph, pw * self.windows, pw, 0, 0, self.oh * self.ow)
        self.mantissas_p[9] = BIAS

    def step(self, lo, hi):
        self.image = -1
        while lo < hi:
            self._image(lo // self.oh)
            self.mantissas_p[0] = self.image * self.n_image
            g = 0
            while g < self.shape[1]:
                self.dots_p[4] = g * self.shape[6] * self.w_step
                self.finish_p[3] = blocks.INITS + 4 * g * self.shape[6]
                self.pool_p[5] = (self.image * self.shape[1] + g) * self.shape[6]
                self._row(lo % self.oh)
                self.mantissas_p[0] += self.n_image // self.shape[1]
                g += 1
            lo += 1

    def _row(self, y):
        """A row of the output, of one group of one image; pool_p[5] counts the planes before."""
        p, x = self.pool_p, 0
        p[5] = (p[5] * self.oh + y) * self.ow
        while x < self.ow:
            p[4] = min(self.windows, self.ow - x)
            self._band(y * self.ph, x * p[3])
            self.pool(self.out, self.out, self.pooled, p)
            p[5] += p[4]
            x += p[4]

    def _band(self, y, x):
        """What some windows pool. y, x: the first of the convolution's rows and positions."""
        self.mantissas_p[12] = self.finish_p[8] = 1
        ky = 0
        while ky < self.ph:
            self.mantissas_p[10] = (y + ky) * self.shape[14] - self.pads[1] + BIAS
            self.finish_p[4] = ky * self.shape[25]
            if self.finite:
                self._band_row(x, 0)
            else:
                self._special(x)
            ky += 1

    def _band_row(self, x, done):
        n = self.pool_p[3] * self.pool_p[4]
        while done < n:
            self.mantissas_p[11] = (x + done) * self.mantissas_p[15] - self.pads[2] + BIAS
            self._columns(min(self.shape[20], n - done))
            self.mantissas(self.x, self.x, self.scratch, self.mantissas_p)
            self.sums()
            done += self.shape[20]
            self.finish_p[4] += self.shape[20]

    def _special(self, x):
        from .block_special import conv_positions

        conv_positions(self, x, self.pool_p[3] * self.pool_p[4])
