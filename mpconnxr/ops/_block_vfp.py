"""Convolution in the FPU, of the same tensors as block_conv's and conv_max_pool's.

Sums are of floats, in an order of their own: the results are as near to the true ones as those of
other programs that compute with float32, but not the same bits as those of block_conv elsewhere.
Inf and nan are as floats have them.

The rows that a call of the loop needs are copied into the scratch, with zeros around them: a row
of the image is as many runs of columns as the stride, each of `half` columns. Where the kernel is
one item, positions are the image's own, and nothing is copied. Weights of fewer bits become
mantissas in the scratch: see loops/vfp/fpu_narrow.
"""

from .. import forms
from ..parameters import BIAS, block

_PIECE = 64  # positions of one call, where nothing is copied
_TILE = 16  # positions that the loop computes at a time, at most
_LEAST = 4  # and at least
_SHARE = 8  # of the scratch that weights of fewer bits are unpacked into, where x is copied there
_WORTH = 4096  # products of a call, at least, of such weights
_STRIPS, _SUMS = 29, 41  # where the loops' parameters begin
_N_PARAMS = 22  # of sums, before the offsets of the kernel's columns
_NONE, _RELU, _CLIP = 0, 1, 2
_INF = 0x7F800000


def convolution(tensors, e, pads, limits, pool=(1, 1), narrow=None):
    """(n, step) of block_conv; None where that is for the exact loops: three spatial dims, no
    channels, or not enough scratch for the rows of a few positions, or for weights.

    tensors: x, weights as block.constants gives them, out, scratch; e: as of block_conv; pool: the
    windows whose largest results are wanted, e speaks of the plane before them and of the strides
    behind them; narrow: None, or bytes of weights that are no mantissas, and a weight's bits
    """
    if not e[3] == e[7] == e[10] == 1 or e[2] == 0:
        return None
    whole = e[4:6] == e[11:13] and e[8] * e[9] == e[14] == e[15] == 1 and pads[1:] == [0, 0]
    lies = e[25] == e[12] * e[26] and pool == (1, 1)
    room, k, n = tensors[3].nelem, e[2] * e[8] * e[9], 0
    points = whole and lies and e[11] * e[12] >= _LEAST
    step = (Pointwise if points else Conv)(tensors, e, pads, limits)
    if narrow:
        n = min(room // k if points else max(room // _SHARE // k, 1), e[1] * e[6])
        room -= n * k
        step.set_narrow(narrow, room, n, k)
    if not points and not step.set_pieces(pool, room):
        return None
    extent, positions = step.set_extent(), step.n * step.rows
    if narrow and (min(n, e[6] * step.groups) * k * positions < _WORTH or positions < _TILE):
        return None
    return extent, step.step


def kind_of(limits):
    """Kind of the clip, bits of low and high; limits: signs and magnitudes."""
    low, high = limits[1] - (limits[0] << 31), limits[3] - (limits[2] << 31)
    if limits == [1, _INF, 0, _INF]:
        return _NONE, low, high
    return _RELU if limits[1:] == [0, 0, _INF] else _CLIP, low, high


class _Conv:
    """p: parameters of the loops' calls (see loops/vfp/fpu), those of strips and of sums, of which
    the last are 2 words for each channel.
    """

    unpacked = None
    groups = rows = 1  # of a call

    def __init__(self, tensors, e, pads, limits):
        x, (self.w, self.exponents, bias), out, scratch = tensors
        self.x = x.view("i")
        self.bias = self.x if bias is None else bias
        self.consts = forms.get("fpu", "vfp").consts
        self.e, self.pads = e, pads
        _, g, c, _, h, width, m, _, kh, kw = e[:10]
        first = _N_PARAMS + kw
        self.p = p = block(*[0] * (_SUMS + first + 2 * g * m))
        p[6], p[7], p[8], p[9] = g, c, c * h * width, 4 * m * c * kh * kw
        p[10], p[11], p[12], p[13] = m, e[21], e[22], e[23]
        p[14], p[15], p[28] = e[25], e[26], 4 * first
        views = memoryview(p)
        self.strips_p, self.sums_p = views[_STRIPS:_SUMS], views[_SUMS:]
        self.consts_p = block(0, g * m, first, int(bias is not None))
        self.needs = [self.strips_p, self.sums_p, self.x, scratch.data, self.w, out.view("i")]
        self.needs.append(forms.get("fpu_sums", "vfp").sums)
        q = self.sums_p
        q[1] = q[3] = q[20] = 1
        q[7], q[8], q[9], q[14], q[15] = m, kw, c * kh, 4 * e[26], 4 * e[23]
        q[17], q[18], q[19] = kind_of(limits)

    def set_narrow(self, narrow, first, n, k):
        """Takes weights of fewer bits, bytes in rows of k, that are unpacked into the scratch from
        item `first` on, n rows at a time.
        """
        w, bits = narrow
        rows = self.e[1] * self.e[6]
        self.unpacked = block(0, 0, k, first, bits, n, rows, 0, 0, (k * bits + 7) // 8)
        unpack = forms.get("block_unpack").unpack
        self.needs[4] = [w, self.needs[3], self.unpacked, unpack, self.needs[6]]
        self.needs[6] = forms.get("fpu_narrow", "vfp").sums

    def step(self, lo, hi):
        # what goes with the weights: they may be others than in the run before
        if self.unpacked:
            self.unpacked[8] = 0
        self.consts(self.bias, self.exponents, self.sums_p, self.consts_p)
        self.p[0], self.p[1] = lo, hi
        self.pieces(self.p, self.needs)


class Conv(_Conv):
    """The extent: images x pieces of their groups x pieces of rows, or rows of windows."""

    def __init__(self, *of):
        super().__init__(*of)
        self.pieces = forms.get("fpu", "vfp").rows

    def set_pieces(self, pool, room):
        """Takes as much as has room in so many words of scratch: positions of a row, then, of
        groups of one channel, rows and groups. False if nothing has.
        """
        e, (ph, pw) = self.e, pool
        windows, pooled = e[12] // pw, pool != (1, 1)
        most = room // (e[2] * e[8] * e[15]) - self._more()  # positions, if a group has channels
        if e[2] == 1:
            most = room // (self._covered(1) * e[15]) - self._more()
        if most < pw:
            return False
        self.n = -(-windows // -(-windows // (most // pw))) * pw
        if self._plane(1) + max(_LEAST - self.n, 0) > room:
            return False
        self.lines = ph if pooled else e[11]
        if e[2] == 1:
            self._set_more(room)
        if not pooled:
            self.lines = self.rows
        self._set_rows(room)
        self.p[3], self.p[5], self.p[20] = self.lines, self.groups, ph
        self.sums_p[20], self.sums_p[21] = pw, 0 if pooled else 2
        self.sums_p[16] = 0 if pooled else 4 * e[25]
        return True

    def _set_more(self, room):
        room -= max(_LEAST - self.n, 0)
        covered = room // (self.e[15] * self._half())
        rows = (covered - self._covered(1)) // self.e[14] + 1
        self.rows = min(rows, self.lines)
        if self.rows == self.lines and self.n >= self.e[12]:
            self.groups = min(room // self._plane(self.rows), self.e[1])
            if self.unpacked:
                self.groups = max(min(self.groups, self.unpacked[5] // self.e[6]), 1)

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
        e, p, q, half = self.e, self.p, self.sums_p, self._half()
        c, sx = e[2], e[15]
        p[16], p[17], p[18], p[19] = self.rows, e[11], e[14], BIAS - self.pads[1]
        p[21], p[23] = self._covered(1), 4 * sx * half
        p[24], p[25], p[26], p[27] = e[12], self.n, sx, BIAS - self.pads[2]
        q[4] = 4 * e[14] * sx * half if self.rows > 1 else 0
        q[6] = self.n + min(room - self.groups * self._plane(self.rows), _TILE)
        q[10] = 4 * sx * half * (e[17] if c == 1 and e[8] > 1 else 1)
        for kx in range(e[9]):
            at = kx * e[18]
            q[_N_PARAMS + kx] = 4 * (at // sx + at % sx * half)
        step = 1 if c == 1 else e[17]
        strips = (0, 0, e[4] * e[5], e[4], e[5], e[8], step, 0, 0, sx, half, 0)
        for i in range(len(strips)):
            self.strips_p[i] = strips[i]

    def set_extent(self):
        self.p[2] = -(-self.e[11] // self.lines)
        self.p[4] = -(-self.e[1] // self.groups)
        return self.e[0] * self.p[4] * self.p[2]


class Pointwise(_Conv):
    """A kernel of one item: positions as they lie. The extent: images x groups x pieces."""

    def __init__(self, *of):
        super().__init__(*of)
        self.pieces = forms.get("fpu", "vfp").points

    def set_extent(self):
        e, p, q = self.e, self.p, self.sums_p
        plane = e[4] * e[5]
        p[2] = -(-plane // _PIECE)
        p[24] = plane
        p[25] = q[5] = q[6] = self.n = -(-plane // p[2])
        q[10] = 4 * plane
        q[21] = 2
        return e[0] * e[1] * p[2]
