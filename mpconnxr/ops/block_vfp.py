"""Convolution in the FPU, of the same tensors as block_conv's and conv_max_pool's.

Sums are of floats, in an order of their own: the results are as near to the true ones as those of
other programs that compute with float32, but not the same bits as those of block_conv elsewhere.
Inf and nan are as floats have them.

The rows that a call of the loop needs are copied into the scratch, with zeros around them: a row
of the image is as many runs of columns as the stride, each of `half` columns. Where the kernel is
one item, positions are the image's own, and nothing is copied.
"""

from ..node import BIAS, block

_PIECE = 64  # positions of one call, where nothing is copied
_TILE = 16  # positions that the loop computes at a time, at most
_LEAST = 4  # and at least
_N_PARAMS = 22  # of the loop, before the offsets of the kernel's columns
_NONE, _RELU, _CLIP = 0, 1, 2
_INF = 0x7F800000


def convolution(loops, tensors, e, pads, limits, pool=(1, 1)):
    """(n, step) of block_conv; None where that is for the exact loops: three spatial dims, no
    channels, or not enough scratch for the rows of a few positions.

    tensors: x, weights as block.constants gives them, out, scratch; e: as of block_conv; pool: the
    windows whose largest results are wanted, e speaks of the plane before them and of the strides
    behind them
    """
    if not e[3] == e[7] == e[10] == 1 or e[2] == 0:
        return None
    whole = e[4:6] == e[11:13] and e[8] * e[9] == e[14] == e[15] == 1 and pads[1:] == [0, 0]
    lies = e[25] == e[12] * e[26] and pool == (1, 1)
    if whole and lies and e[11] * e[12] >= _LEAST:
        step = Pointwise(loops, tensors, e, pads, limits)
        return step.set_extent(), step.step
    step = Conv(loops, tensors, e, pads, limits)
    return (step.set_extent(), step.step) if step.set_pieces(pool, tensors[3].nelem) else None


def kind_of(limits):
    """Kind of the clip, bits of low and high; limits: signs and magnitudes."""
    low, high = limits[1] - (limits[0] << 31), limits[3] - (limits[2] << 31)
    if limits == [1, _INF, 0, _INF]:
        return _NONE, low, high
    return _RELU if limits[1:] == [0, 0, _INF] else _CLIP, low, high


class _Conv:
    """p: parameters of the loop, and 2 words for each channel."""

    def __init__(self, loops, tensors, e, pads, limits):
        x, (self.w, self.exponents, bias), out, scratch = tensors
        self.x = x.view("i")
        self.bias = self.x if bias is None else bias
        self.out, self.scratch = out.view("i"), scratch.data
        self.consts, self.strips, self.sums = loops.consts, loops.strips, loops.sums
        self.e, self.pads = e, pads
        _, g, c, _, h, width, m, _, kh, kw = e[:10]
        self.x_group, self.w_group = c * h * width, m * c * kh * kw
        self.first = _N_PARAMS + kw
        self.p = p = block(*[0] * (self.first + 2 * g * m))
        self.consts_p = block(0, g * m, self.first, int(bias is not None))
        self.strips_p = block(0, 0)
        p[1] = p[3] = p[20] = 1
        p[7], p[8], p[9], p[14], p[15] = m, kw, c * kh, 4 * e[26], 4 * e[23]
        p[17], p[18], p[19] = kind_of(limits)

    def set_up(self):
        """What goes with the weights: they may be others than in the run before."""
        self.consts(self.bias, self.exponents, self.p, self.consts_p)

    def place_group(self, b, g):
        """Sets the parameters for groups of an image, and where they begin in out."""
        e, p = self.e, self.p
        p[11] = 4 * g * self.w_group
        p[12] = 4 * (self.first + 2 * g * e[6])
        self.strips_p[0] = (b * e[1] + g) * self.x_group
        self.at = e[21] + b * e[22] + g * e[6] * e[23]


class Conv(_Conv):
    """The extent: images x pieces of their groups x pieces of rows, or rows of windows."""

    def set_pieces(self, pool, room):
        """Takes as much as has room in so many words of scratch: positions of a row, then, of
        groups of one channel, rows and groups. False if nothing has.
        """
        e, (self.ph, pw) = self.e, pool
        windows, pooled = e[12] // pw, pool != (1, 1)
        most = room // (e[2] * e[8] * e[15]) - self._more()  # positions, if a group has channels
        if e[2] == 1:
            most = room // (self._covered(1) * e[15]) - self._more()
        if most < pw:
            return False
        self.n = -(-windows // -(-windows // (most // pw))) * pw
        self.groups = self.rows = 1
        if self._plane(1) + max(_LEAST - self.n, 0) > room:
            return False
        self.lines = self.ph if pooled else e[11]
        if e[2] == 1:
            self._set_more(room)
        if not pooled:
            self.lines = self.rows
        self._set_rows(room)
        self.p[20], self.p[21] = pw, 0 if pooled else 2
        self.p[16] = 0 if pooled else 4 * e[25]
        return True

    def _set_more(self, room):
        room -= max(_LEAST - self.n, 0)
        covered = room // (self.e[15] * self._half())
        rows = (covered - self._covered(1)) // self.e[14] + 1
        self.rows = min(rows, self.lines)
        if self.rows == self.lines and self.n >= self.e[12]:
            self.groups = min(room // self._plane(self.rows), self.e[1])

    def _more(self):
        """Columns of a run beyond its positions."""
        return (self.e[9] - 1) * self.e[18] // self.e[15]

    def _plane(self, rows):
        """Words of a group's rows."""
        e = self.e
        return e[2] * (self._covered(rows) if e[2] == 1 else e[8]) * e[15] * self._half()

    def _covered(self, rows):
        """Rows of the image under so many output rows."""
        return (rows - 1) * self.e[14] + (self.e[8] - 1) * self.e[17] + 1

    def _half(self):
        return self.n + self._more()

    def _set_rows(self, room):
        e, p, half = self.e, self.p, self._half()
        c, sx = e[2], e[15]
        p[4] = 4 * e[14] * sx * half if self.rows > 1 else 0
        p[6] = self.n + min(room - self.groups * self._plane(self.rows), _TILE)
        p[10] = 4 * sx * half * (e[17] if c == 1 and e[8] > 1 else 1)
        for kx in range(e[9]):
            at = kx * e[18]
            p[_N_PARAMS + kx] = 4 * (at // sx + at % sx * half)
        step = 1 if c == 1 else e[17]
        self.strips_p = block(0, 0, e[4] * e[5], e[4], e[5], e[8], step, 0, 0, sx, half, 0)

    def set_extent(self):
        self.per_plane = -(-self.e[11] // self.lines)
        self.per_image = -(-self.e[1] // self.groups)
        return self.e[0] * self.per_image * self.per_plane

    def step(self, lo, hi):
        self.set_up()
        while lo < hi:
            y = lo % self.per_plane * self.lines
            self._place(lo // self.per_plane)
            self._lines(y, min(y + self.lines, self.e[11]))
            lo += 1

    def _place(self, i):
        g = i % self.per_image * self.groups
        self.p[1] = min(self.groups, self.e[1] - g)
        self.strips_p[1] = self.p[1] * self.e[2]
        self.place_group(i // self.per_image, g)

    def _lines(self, y, end):
        self.at += y // self.ph * self.e[25]
        if self.p[21] == 1:
            self.p[21] = 0
        while y < end:
            self._place_rows(y, min(self.rows, end - y))
            self._columns(self.at, 0)
            self.p[21] |= 1
            y += self.rows

    def _place_rows(self, y, n):
        self.p[3] = n
        self.strips_p[7] = y * self.e[14] - self.pads[1] + BIAS
        if self.e[2] == 1:
            self.strips_p[5] = self._covered(n)
            self.p[2] = 4 * self._plane(n)

    def _columns(self, at, x):
        while x < self.e[12]:
            self.p[5] = min(self.n, self.e[12] - x)
            self.p[13] = 4 * at
            self.strips_p[8] = x * self.e[15] - self.pads[2] + BIAS
            self.strips(self.x, self.x, self.scratch, self.strips_p)
            self.sums(self.scratch, self.w, self.out, self.p)
            at += self.n // self.p[20] * self.e[26]
            x += self.n


class Pointwise(_Conv):
    """A kernel of one item: positions as they lie. The extent: images x groups x pieces."""

    def set_extent(self):
        e, p = self.e, self.p
        plane = e[4] * e[5]
        self.per_plane = -(-plane // _PIECE)
        p[5] = p[6] = self.n = -(-plane // self.per_plane)
        p[10] = 4 * plane
        p[21] = 2
        return e[0] * e[1] * self.per_plane

    def step(self, lo, hi):
        self.set_up()
        while lo < hi:
            self._piece(lo // self.per_plane, lo % self.per_plane * self.n)
            lo += 1

    def _piece(self, i, at):
        at = min(at, self.e[4] * self.e[5] - self.n)  # the last may compute some once more
        self.place_group(i // self.e[1], i % self.e[1])
        self.p[0] = 4 * (i * self.x_group + at)
        self.p[13] = 4 * (self.at + at * self.e[26])
        self.sums(self.x, self.w, self.out, self.p)
