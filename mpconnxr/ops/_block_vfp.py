"""Convolution in the FPU, for the same tensors as block_conv and conv_max_pool.

Sums are float32 and added in an order of their own. Results are as accurate as those of other
float32 implementations, but differ in bits from the exact block_conv. Inf and NaN follow IEEE.

Before each call of the loop, the rows that it reads are copied to the scratch with zeros around
them: a row of the image becomes as many runs of columns as the column stride, `run` columns each.
Images of 1x1 kernels are read in place, without stride, padding, pooling and gaps between rows of
out, from a few positions on. Weights of fewer than 24 bits are unpacked to mantissas in the
scratch (see loops/vfp/fpu_narrow).
"""

from .. import forms
from ..blocks import block
from ._block import MACS

_PIECE = 64  # positions of one call of a 1x1 kernel
_TILE = 16  # most positions of one tile
_LEAST = 4  # least positions of one tile
_SHARE = 8  # 1 / 8 of the scratch holds unpacked weights, where it also holds x
_WORTH = 4096  # least products per call for which unpacking weights pays
_NONE, _RELU, _CLIP = 0, 1, 2
_INF = 0x7F800000


def convolution(calls, tensors, e, pads, limits, pool=(1, 1), narrow=None):
    """Emit the calls of block_conv; return False where the exact loops must run instead.

    That is the case for three spatial dims, for zero channels, if the scratch is too small for the
    rows of a few positions or for weights, and where too few positions use unpacked weights to
    make up for unpacking them.

    Args:
        calls: the mpconnxr.build.calls.Calls.
        tensors: x, weights as block.constants returns them, out, scratch.
        e: parameters as of block_conv. With pooling, sizes are before it, strides after it.
        pads: padding at the beginning of each spatial dim, signed.
        limits: of the results, signs and magnitudes.
        pool: rows and columns of a max-pooling window.
        narrow: (view of packed weights, bits of a weight), or None for 24-bit mantissas.
    """
    _, _, c, d, h, w, _, kd, kh, kw, od, oh, ow, _, sy, sx = e[:16]
    if not d == kd == od == 1 or c == 0:
        return False
    points = (h, w) == (oh, ow) and kh * kw == sy == sx == 1 and pads[1:] == [0, 0]
    points = points and e[25] == ow * e[26] and pool == (1, 1) and oh * ow >= _LEAST
    made = (Pointwise if points else Conv)(e, pads, limits, pool)
    _, _, _, scratch = tensors
    if not made.fits(scratch.nelem, narrow):
        return False
    made.emit(calls, *tensors)
    return True


def clip_of(limits):
    """Return (kind of clipping, bits of low, bits of high) from signs and magnitudes."""
    low, high = limits[1] - (limits[0] << 31), limits[3] - (limits[2] << 31)
    if limits == [1, _INF, 0, _INF]:
        return _NONE, low, high
    return _RELU if limits[1:] == [0, 0, _INF] else _CLIP, low, high


class _Conv:
    """A convolution with the parameters of block_conv, cut into units that the driver computes.

    Attributes:
        groups: groups of one unit, and of one call of sums.
        lines: rows of one unit; those of a window with pooling.
        rows, n: rows, and positions of a row, of one call of sums.
        run: columns of a run; a row in the scratch has one per column of the stride.
        weight_rows: rows of packed weights that fit unpacked in the scratch.
    """

    groups = rows = 1
    narrow, weight_rows = None, 0
    scratch_row_stride = row_stride = x_inner_stride = 0  # bytes

    def __init__(self, e, pads, limits, pool):
        _, self.all_groups, self.c, _, self.x_rows, self.x_columns, self.m = e[:7]
        self.images, self.kernel_rows, self.kernel_columns = e[0], e[8], e[9]
        self.all_rows, self.positions = e[11:13]
        _, self.sy, self.sx, _, self.dy, self.dx = e[13:19]
        self.out_first, self.out_strides = e[21], e[22:27]
        self.pads, self.limits, self.pool = pads, limits, pool
        self.k = self.c * self.kernel_rows * self.kernel_columns
        self.taps = [0] * self.kernel_columns

    def fits(self, n_words, narrow):
        """Choose the largest unit for n_words words of scratch; return False if none fits."""
        self.n_words = n_words
        if narrow:
            self.narrow, rows = narrow, self.all_groups * self.m
            self.weight_rows = min(self._weight_rows(n_words), rows)
            self.n_words -= self.weight_rows * self.k
        if not self.set_unit():
            return False
        positions, rows = self.n * self.rows, min(self.weight_rows, self.m * self.groups)
        return not narrow or (rows * self.k * positions >= _WORTH and positions >= _TILE)

    def emit(self, calls, x, weights, out, scratch):
        """Emit the calls. Weights are as block.constants returns them."""
        from ..loops.vfp.fpu import (
            _CONSTS_W_START,
            _STRIPS_X_START,
            _SUMS_TAP_STARTS,
            _SUMS_X_START,
            _UNPACK_W_START,
        )

        w, exponents, bias = weights
        x, out, part = calls.place(x, "i"), calls.place(out, "i"), calls.part
        loops, sums = calls.fpu("fpu_strips", "block"), calls.fpu("fpu_sums", "block").sums
        work = calls.place(scratch)
        if self.narrow:
            unpack = forms.get("block_unpack").unpack
            w = [self.narrow[0], work, part(_UNPACK_W_START, _SUMS_X_START), unpack, sums]
            sums = calls.fpu("fpu_narrow", "block").sums
        needs = [part(_STRIPS_X_START, _UNPACK_W_START), part(_SUMS_X_START)]
        needs += [part(_CONSTS_W_START, _STRIPS_X_START), x, work, w, out]
        needs += [x if bias is None else bias, exponents, loops.consts, loops.strips, sums]
        driver, units = getattr(calls.fpu("fpu", "block"), self.DRIVER), self.units()
        consts = _SUMS_TAP_STARTS - _SUMS_X_START + self.kernel_columns
        macs = self.m * self.k * self.unit_positions * self.groups
        for start, end in calls.parts(units, macs // MACS):
            calls.drive(driver, self._block(start, end, consts, int(bias is not None)), needs)

    def _block(self, start, end, consts, has_bias):
        """Return the driver's block for units start to end - 1.

        consts is the index of the first channel's scale in the parameters of sums.
        """
        image, channel, _, row, position = self.out_strides
        sx, (high, wide) = self.sx, self.pool
        pooled = self.pool != (1, 1)
        plane = self.x_rows * self.x_columns
        clip, low, high_bits = clip_of(self.limits)
        bits = self.narrow[1] if self.narrow else 0
        return block(
            "fpu",
            start=start,
            end=end,
            chunks=self.chunks,
            chunk_rows=self.lines,
            group_chunks=self.group_chunks,
            chunk_groups=self.groups,
            groups=self.all_groups,
            channels=self.c,
            x_group_stride=self.c * plane,
            w_group_stride=4 * self.m * self.k,
            out_channels=self.m,
            out_start=self.out_first,
            out_image_stride=image,
            out_channel_stride=channel,
            out_row_stride=row,
            out_position_stride=position,
            rows_at_once=self.rows,
            rows=self.all_rows,
            row_stride=self.sy,
            corner_row=0 - self.pads[1],
            window_rows=high,
            covered_rows=self._covered(1),
            scratch_row_stride=self.scratch_row_stride,
            positions=self.positions,
            positions_at_once=self.n,
            column_stride=sx,
            corner_column=0 - self.pads[2],
            consts_start=4 * consts,
            consts_w_start=0,
            consts_channels=self.all_groups * self.m,
            consts_out_start=consts,
            consts_has_bias=has_bias,
            strips_x_start=0,
            strips_planes=0,
            strips_x_plane_stride=plane,
            strips_rows=self.x_rows,
            strips_columns=self.x_columns,
            strips_out_rows=self.kernel_rows,
            strips_row_step=1 if self.c == 1 else self.dy,
            strips_row=0,
            strips_column=0,
            strips_phases=sx,
            strips_phase_columns=self.run,
            strips_out_start=0,
            unpack_w_start=0,
            unpack_rows=0,
            unpack_columns=self.k,
            unpack_out_start=self.n_words,
            unpack_bits=bits,
            unpack_rows_at_once=self.weight_rows,
            unpack_w_rows=self.all_groups * self.m,
            unpack_first_row=0,
            unpack_rows_end=0,
            unpack_w_row_stride=(self.k * bits + 7) // 8,
            sums_x_start=0,
            sums_groups=1,
            sums_x_group_stride=0,
            sums_rows=1,
            sums_x_row_stride=self.row_stride,
            sums_positions=self.n,
            sums_readable_positions=self.readable,
            sums_channels=self.m,
            sums_taps=self.kernel_columns,
            sums_inner=self.c * self.kernel_rows,
            sums_x_inner_stride=self.x_inner_stride,
            sums_w_start=0,
            sums_consts_start=0,
            sums_out_start=0,
            sums_out_position_stride=4 * position,
            sums_out_channel_stride=4 * channel,
            sums_out_row_stride=0 if pooled else 4 * row,
            sums_clip=clip,
            sums_low=low,
            sums_high=high_bits,
            sums_window_columns=wide,
            sums_window_row=0 if pooled else 2,
            sums_tap_starts=self.taps + [0] * (2 * self.all_groups * self.m),
        )

    def _covered(self, rows):
        """Return the rows of the image that `rows` output rows cover."""
        return (rows - 1) * self.sy + (self.kernel_rows - 1) * self.dy + 1


class Conv(_Conv):
    """Units are images x chunks of groups x chunks of rows (or of rows of windows)."""

    DRIVER = "rows"

    def _weight_rows(self, n_words):
        return max(n_words // _SHARE // self.k, 1)

    def set_unit(self):
        """Choose the positions of a row, then, with one channel per group, rows and groups."""
        n_words, (ph, pw) = self.n_words, self.pool
        windows, pooled = self.positions // pw, self.pool != (1, 1)
        most = n_words // (self.c * self.kernel_rows * self.sx) - self._more()
        if self.c == 1:
            most = n_words // (self._covered(1) * self.sx) - self._more()
        if most < pw:
            return False
        self.n = -(-windows // -(-windows // (most // pw))) * pw
        self.run = self.n + self._more()
        if self._plane(1) + max(_LEAST - self.n, 0) > n_words:
            return False
        if self.c == 1:
            self._set_more(n_words)
        self.lines = ph if pooled else self.rows
        self.unit_positions = self.positions * self.lines
        self._set_strides()
        return True

    def _set_more(self, n_words):
        n_words -= max(_LEAST - self.n, 0)
        covered = n_words // (self.sx * self.run)
        most = self.pool[0] if self.pool != (1, 1) else self.all_rows
        self.rows = min((covered - self._covered(1)) // self.sy + 1, most)
        if self.rows == most and self.n >= self.positions:
            self.groups = min(n_words // self._plane(self.rows), self.all_groups)
            if self.narrow:
                self.groups = max(min(self.groups, self.weight_rows // self.m), 1)

    def _more(self):
        """Return the columns of a run beyond its positions."""
        return (self.kernel_columns - 1) * self.dx // self.sx

    def _plane(self, rows):
        """Return the words of scratch of one group's rows."""
        row = self.sx * self.run
        return self._covered(rows) * row if self.c == 1 else self.c * self.kernel_rows * row

    def _set_strides(self):
        row = 4 * self.sx * self.run
        self.scratch_row_stride = row
        self.row_stride = self.sy * row if self.rows > 1 else 0
        self.readable = self.n + min(self.n_words - self.groups * self._plane(self.rows), _TILE)
        is_dilated = self.c == 1 and self.kernel_rows > 1
        self.x_inner_stride = row * (self.dy if is_dilated else 1)
        for kx in range(self.kernel_columns):
            at = kx * self.dx
            self.taps[kx] = 4 * (at // self.sx + at % self.sx * self.run)

    def units(self):
        """Return the number of units."""
        self.chunks = -(-self.all_rows // self.lines)
        self.group_chunks = -(-self.all_groups // self.groups)
        return self.images * self.group_chunks * self.chunks


class Pointwise(_Conv):
    """1x1 kernels, read in place. Units are images x groups x chunks of positions."""

    DRIVER = "points"
    run = 0

    def _weight_rows(self, n_words):
        return n_words // self.k

    def set_unit(self):
        """Choose as many positions as one call may have."""
        self.positions = plane = self.x_rows * self.x_columns
        self.lines = self.group_chunks = 1
        self.chunks = -(-plane // _PIECE)
        self.n = self.readable = self.unit_positions = -(-plane // self.chunks)
        self.x_inner_stride = 4 * plane
        return True

    def units(self):
        """Return the number of units."""
        return self.images * self.all_groups * self.chunks
