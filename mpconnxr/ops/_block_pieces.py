"""What block_conv and conv_max_pool share: a convolution's rows, by loops/block_pieces."""

from .. import forms
from ..parameters import BIAS, block
from . import _block as blocks

_MOST = 64  # items of a window of loops/averages
_INF = 0x7F800000
_AVERAGES = 76  # where its parameters begin


def convolution(node, e, pads, most, limits, window=(1, 1)):
    """(n, step) of a convolution whose parameters are checked, but for the sizes of its weights
    and scratch. Arguments: see Pieces.set_shape.
    """
    x, w = node.inputs[:2]
    weights = blocks.constants(node, node.inputs[1:], e[1] * e[6])
    out, scratch = node.outputs[0], node.scratch[0]
    in_floats = w.dtype == "int32" or w.dtype in blocks.NARROW
    if in_floats and forms.precedes("fpu", "vfp", "block"):
        from . import _block_vfp

        bits, _ = blocks.row_of(node, w, e[1] * e[6], e[2] * e[7] * e[8] * e[9])
        narrow = (w.view("B"), bits) if bits < 24 else None
        tensors = x, weights, out, scratch
        found = _block_vfp.convolution(tensors, e, pads, limits, window, narrow)
        if found:
            return found
    k = e[2] * e[7] * e[8] * e[9]
    averages = e[1] == e[2] == e[3] == e[6] == e[7] == e[10] == 1 < k <= _MOST
    averages = averages and w.dtype == "int32" and len(node.inputs) == 3
    averages = averages and limits == [1, _INF, 0, _INF] and e[5] <= scratch.nelem
    step = (Averages if averages and window == (1, 1) else Pieces)(x, weights, out, scratch)
    step.set_kind(w, k)
    step.set_shape(node, e, pads, most, limits, window)
    step.set_weights(node, w)
    return e[0] * e[10] * step.blocks, step.step


class Pieces(blocks.Block):
    """The extent is blocks of rows: batch x od x blocks. A block of windows is a row of those.

    shape: the parameters of block_conv up to its steps in the output, which are the windows'
    """

    def set_shape(self, node, e, pads, most, limits, window=(1, 1)):
        """e: parameters of block_conv; most: positions and channels whose sums are in the scratch;
        limits: of the results; window: height and width of the pool's, 1 where there is none.
        """
        self.shape, self.pads, self.window = e, pads, window
        groups, c, m, kw, sx, dx = e[1], e[2], e[6], e[9], e[15], e[18]
        rows, n = e[19:21]
        some, channels = min(most[0], n) if rows == 1 else n, min(most[1], m)
        size = c * e[7] * e[8]
        self.n_image = groups * c * e[3] * e[4] * e[5]
        self.rows = rows * window[0]
        self.blocks = -(-e[11] // self.rows)
        overlaps = dx == 1 and sx < kw and rows * n > 1
        columns, idle = n * kw, 0
        if overlaps:  # a row ends at a multiple of the stride: the next one's follow in step
            columns = -(-((n - 1) * sx + kw) // sx) * sx
            idle = columns // sx - n if rows > 1 else 0
        step = (sx if overlaps else kw) * size
        of_channel, of_sum, of_x = self.words
        sums = blocks.INITS + of_channel * channels
        band = sums + (of_sum * channels + of_x) * ((some + idle) * rows - idle)
        node.require(band + rows * columns * size <= len(self.scratch), "scratch size")
        node.require(columns < BIAS, "kernel size")
        pooled = window[0] * window[1] > 1
        steps = [e[26] if window[1] == 1 else 0, e[23], e[26] if pooled else e[25]]
        p = [0, c] + e[3:6] + e[7:9] + e[16:18] + [0, 0, 0]
        p += [0, e[14], 1, sx, columns if overlaps else kw, dx, columns, band, 1]
        p += self.align_words + [band, 0, step, kw * size, 0, 0, sums, 0]
        p += [sums, 0, 0, blocks.INITS, 0] + steps + [0, idle] + limits + [int(pooled)]
        p += [0, 0, rows, groups, m, channels, e[12], n, some]
        p += [BIAS - pads[1], BIAS - pads[2], self.n_image // groups, 0]
        p += [0, e[25], e[26]] + list(window) + [int(overlaps), kw, idle, 0, step]
        self.p = block(*p + [0, self.more])
        self.found, self.peak_p = memoryview(self.p)[74:75], block(0, self.n_image, 0)
        self.fill = forms.get("block").fill
        self.fill_p = block(0, 0, groups * m, e[23], limits[0], limits[1])

    def set_weights(self, node, w):
        """Takes the mantissas; ModelError unless there are enough."""
        e = self.shape
        self.set_weights_of(node, w, e[1] * e[6], self.p[31])
        self.p[63] = self.w_step
        self.pieces = forms.get("block_pieces").pieces
        self.set_needs(forms.later("block_special", "rows"), (0, 21, 28, 36, 51))

    def step(self, lo, hi):
        self.image = -1
        while lo < hi:
            n = min(hi - lo, self.blocks - lo % self.blocks)
            self._place(lo // self.blocks, lo % self.blocks * self.rows, n * self.rows)
            if self.p[50]:
                self._fill()
            self.pieces(self.p, self.needs)
            lo += n

    def _place(self, plane, y, n):
        """Sets the loops' parameters for n rows, of one of the images' planes."""
        e, p = self.shape, self.p
        self._image(plane // e[10])
        plane = plane % e[10]
        p[9] = plane * e[13] - self.pads[0] + BIAS
        p[51] = y
        p[52] = min(y + n, e[11])
        p[64] = e[21] + self.image * e[22] + plane * e[24]

    def _image(self, b):
        """Finds the exponent of an image, unless it is the one before."""
        if b != self.image:
            self.image = b
            self.p[72] = self.peak_p[0] = b * self.n_image
            self.peak(self.x, self.x, self.found, self.peak_p)

    def _fill(self):
        """The least result, where the largest ones are looked for."""
        p, high = self.p, self.window[0]
        self.fill_p[0] = p[64] + p[51] // high * p[65]
        self.fill_p[1] = (p[52] - p[51]) // high * p[65]
        self.fill(self.out, self.out, self.out, self.fill_p)


class Averages(Pieces):
    """The same of one channel, whose weights may all be one: see loops/averages."""

    def set_shape(self, node, e, pads, most, limits, window=(1, 1)):
        super().set_shape(node, e, pads, most, limits)
        bits = 6
        while e[8] * e[9] >> 6 - bits:
            bits -= 1
        p = [0, 0, e[8] * e[9], 0, 0, e[4], e[5], e[8], e[9]] + e[14:16] + e[17:19]
        p += [BIAS + pads[1], BIAS + pads[2], e[12], 0, e[25], e[26], 0, max(bits, 0)]
        self.p = block(*list(self.p) + p)
        self.found = memoryview(self.p)[74:75]

    def set_weights(self, node, w):
        super().set_weights(node, w)
        loops = forms.get("averages")
        self.needs += [self.pieces, loops.same, loops.columns, loops.results]
        self.needs.append(memoryview(self.p)[_AVERAGES:])
        self.pieces = loops.averages

    def _place(self, plane, y, n):
        super()._place(plane, y, n)
        p = self.p
        p[_AVERAGES + 4], p[_AVERAGES + 16] = p[72], p[64]
