"""Convolution by rows with loops/block_pieces, shared by block_conv and conv_max_pool."""

from .. import forms
from ..blocks import block
from ..loops.averages import _OUT_START as _AVERAGES_OUT_START
from ..loops.averages import _PART
from ..loops.averages import _X_START as _AVERAGES_X_START
from ..loops.block_pieces import (
    _ALIGN_X_START,
    _CHANNELS,
    _DOTS_COLUMNS,
    _DOTS_X_START,
    _FINISH_IS_LOW_NEGATIVE,
    _FINISH_IS_MAXIMUM,
    _FINISH_LOW,
    _FINISH_OUT_CHANNEL_STRIDE,
    _FINISH_X_START,
    _GROUPS,
    _MANTISSAS_CORNER_DEPTH,
    _MANTISSAS_KERNEL_COLUMNS,
    _MANTISSAS_POSITIONS,
    _MANTISSAS_X_START,
    _OUT_ROW_STRIDE,
    _OUT_START,
    _ROW_END,
    _ROW_START,
    _W_ROW_STRIDE,
    _X_START,
)
from ..parameters import BIAS
from ..parameters import block as words
from . import _block as blocks

_MOST_TAPS = 64  # of a window of loops/averages: its sums stay below 2**30
_INF = 0x7F800000


def convolution(node, calls, e, pads, at_once, limits, window=(1, 1)):
    """Emit a convolution whose parameters are checked; check weights and scratch here.

    See Pieces.set_shape for the arguments.
    """
    x, w = node.inputs[:2]
    _, g, c, d, _, width, m, kd, kh, kw, od = e[:11]
    k = c * kd * kh * kw
    weights = blocks.constants(node, calls, node.inputs[1:], g * m)
    out, scratch = node.outputs[0], node.scratch[0]
    in_floats = w.dtype == "int32" or w.dtype in blocks.NARROW
    if in_floats and calls.fpu("fpu_strips", "block"):  # assembler: not in a copy of sources
        from . import _block_vfp

        bits, _ = blocks.row_of(node, w, g * m, k)
        narrow = (calls.place(w, "B"), bits) if bits < 24 else None
        tensors = x, weights, out, scratch
        if _block_vfp.convolution(calls, tensors, e, pads, limits, window, narrow):
            return
    may_be_means = (
        g == c == d == m == kd == od == 1 < k <= _MOST_TAPS
        and w.dtype == "int32"
        and len(node.inputs) == 3
        and limits == [1, _INF, 0, _INF]
        and window == (1, 1)
        and width <= scratch.nelem
    )
    pieces = (Averages if may_be_means else Pieces)(calls, x, weights, out, scratch)
    pieces.set_kind(w, k)
    pieces.set_shape(node, e, pads, at_once, limits, window)
    pieces.set_weights(node, w)
    pieces.emit(node)


class Pieces(blocks.Block):
    """Convolution by blocks of rows: batch x output planes x blocks of rows.

    With pooling, one block is one row of windows.

    Attributes:
        shape: parameters of block_conv up to out_strides; with pooling, strides are the windows'.
        p: parameters that all blocks of the driver have in common.
    """

    clears = False  # True if the driver overwrites the image's exponent

    def set_shape(self, node, e, pads, at_once, limits, window=(1, 1)):
        """Compute the sizes of scratch and blocks.

        Args:
            node: the node.
            e: parameters of block_conv.
            pads: padding at the beginning of each spatial dim, signed.
            at_once: positions and channels whose sums are in the scratch at once.
            limits: of the results, as blocks.limits returns them.
            window: rows and columns of a pooling window; 1, 1 without pooling.
        """
        self.shape, self.pads, self.window = e, pads, window
        _, groups, c, depth, x_rows, x_columns, m, kd, kh, kw, _, out_rows, positions = e[:13]
        _, sy, sx, dz, dy, dx, rows, n = e[13:21]
        some, channels = min(at_once[0], n) if rows == 1 else n, min(at_once[1], m)
        size = c * kd * kh
        self.n_image = groups * c * depth * x_rows * x_columns
        self.rows = rows * window[0]
        overlaps, columns, skipped = blocks.shared_columns(n, rows, kw, sx, dx)
        step = (sx if overlaps else kw) * size
        nelem = rows * columns * size
        places = self.words, channels, some, rows, skipped, nelem
        sums, band, end = blocks.convolution_places(*places)
        node.require(end <= node.scratch[0].nelem, "scratch size")
        node.require(columns < BIAS, "kernel size")
        pooled = window[0] * window[1] > 1
        channel_stride, _, row_stride, position_stride = e[23:27]
        is_low_negative, low, is_high_negative, high = limits
        self.p = block(
            "block_pieces",
            mantissas_x_start=0,
            mantissas_channels=c,
            mantissas_depth=depth,
            mantissas_rows=x_rows,
            mantissas_columns=x_columns,
            mantissas_kernel_depth=kd,
            mantissas_kernel_rows=kh,
            mantissas_depth_dilation=dz,
            mantissas_row_dilation=dy,
            mantissas_corner_depth=0,
            mantissas_corner_row=0,
            mantissas_corner_column=0,
            mantissas_out_rows=0,
            mantissas_row_stride=sy,
            mantissas_positions=1,
            mantissas_column_stride=sx,
            mantissas_kernel_columns=columns if overlaps else kw,
            mantissas_column_dilation=dx,
            mantissas_out_row_stride=columns,
            mantissas_out_start=band,
            mantissas_exponent=1,
            align_x_start=0,
            align_x_stride=self.has_bias,
            align_w_start=0,
            align_w_stride=1,
            align_channels=0,
            align_out_start=blocks.INITS,
            align_exponent=0,
            dots_x_start=band,
            dots_rows=0,
            dots_x_row_stride=step,
            dots_columns=kw * size,
            dots_w_start=0,
            dots_channels=0,
            dots_out_start=sums,
            dots_bits=0,
            finish_x_start=sums,
            finish_positions=0,
            finish_channels=0,
            finish_w_start=blocks.INITS,
            finish_out_start=0,
            finish_out_position_stride=position_stride if window[1] == 1 else 0,
            finish_out_channel_stride=channel_stride,
            finish_out_row_stride=position_stride if pooled else row_stride,
            finish_rows=0,
            finish_skipped_positions=skipped,
            finish_is_low_negative=is_low_negative,
            finish_low=low,
            finish_is_high_negative=is_high_negative,
            finish_high=high,
            finish_is_maximum=int(pooled),
            row_start=0,
            row_end=0,
            rows_at_once=rows,
            groups=groups,
            channels=m,
            channels_at_once=channels,
            positions=positions,
            positions_at_once=n,
            sums_at_once=some,
            corner_row=0 - pads[1],
            corner_column=0 - pads[2],
            x_group_stride=self.n_image // groups,
            w_row_stride=0,
            out_start=0,
            out_row_stride=row_stride,
            out_position_stride=position_stride,
            window_rows=window[0],
            window_columns=window[1],
            has_shared_columns=int(overlaps),
            kernel_columns=kw,
            skipped_positions=skipped,
            x_start=0,
            position_stride=step,
            exponent_offset=self.more,
        )

    def set_weights(self, node, w):
        """Take the mantissas; raise ModelError if there are too few."""
        rows = self.p[_GROUPS] * self.p[_CHANNELS]
        self.set_weights_of(node, w, rows, self.p[_DOTS_COLUMNS])
        self.p[_W_ROW_STRIDE] = self.w_step
        self.pieces = forms.get("block_pieces").pieces
        ends = _MANTISSAS_X_START, _ALIGN_X_START, _DOTS_X_START, _FINISH_X_START, _ROW_START
        calls = self.calls
        self.set_needs(calls.later("block_special", "rows"), ends)

    def emit(self, node):
        """Emit the calls: the exponent of each image, then its rows, some blocks at a time."""
        calls = self.calls
        n, g, c, _, _, _, m, kd, kh, kw, od, oh, ow = self.shape[:13]
        x, scratch = calls.place(node.inputs[0], "i"), calls.place(node.scratch[0])
        places = x, scratch, calls.place(node.outputs[0], "i")
        macs = g * c * m * kd * kh * kw * ow * self.rows
        whole, rest = oh // self.rows, oh % self.rows
        for image in calls.repeat(n):
            if not self.clears:
                self._emit_peak(places, image)
            for plane in calls.repeat(od):
                for first, end in calls.parts(whole, macs // blocks.MACS):
                    self._emit_rows(places, image, plane, first * self.rows, end * self.rows)
                for _ in calls.parts(int(rest > 0)):
                    self._emit_rows(places, image, plane, whole * self.rows, oh)

    def _emit_peak(self, places, image):
        """Emit the call that finds the exponent of an image."""
        p = block(
            "block.peak",
            x_start=image * self.n_image,
            peak_elements=self.n_image,
            peak_out_start=0,
        )
        x, scratch, _ = places
        self.calls.call(self.peak, x, None, scratch, p)

    def _emit_rows(self, places, image, plane, start, end):
        """Emit the call of the driver for rows start to end - 1 of a plane."""
        calls, p = self.calls, self._block(image, plane)
        if self.clears:
            self._emit_peak(places, image)
        p[_ROW_START], p[_ROW_END] = start, end
        if p[_FINISH_IS_MAXIMUM]:  # start from the least result: the loop keeps the maximum
            row_stride, high = p[_OUT_ROW_STRIDE], self.window[0]
            fill_p = block(
                "block.fill",
                fill_out_start=p[_OUT_START] + start // high * row_stride,
                fill_columns=(end - start) // high * row_stride,
                fill_rows=p[_GROUPS] * p[_CHANNELS],
                fill_out_row_stride=p[_FINISH_OUT_CHANNEL_STRIDE],
                fill_is_negative=p[_FINISH_IS_LOW_NEGATIVE],
                fill_magnitude=p[_FINISH_LOW],
            )
            _, _, out = places
            calls.call(forms.get("block").fill, None, None, out, fill_p)
        # The driver sets one of them, and a later call reads the other as it is here.
        left = _MANTISSAS_POSITIONS, _MANTISSAS_KERNEL_COLUMNS
        calls.drive(self.pieces, p, self.needs, left)

    def _block(self, image, plane):
        """Return the driver's block for a plane of an image."""
        p, sz = words(*self.p), self.shape[13]
        first, of_image, _, of_plane = self.shape[21:25]
        p[_X_START] = image * self.n_image
        p[_MANTISSAS_CORNER_DEPTH] = plane * sz - self.pads[0] + BIAS
        p[_OUT_START] = first + image * of_image + plane * of_plane
        return p


class Averages(Pieces):
    """Convolution of one channel whose weights may all be equal: see loops/averages."""

    clears = True

    def set_shape(self, node, e, pads, *others):
        super().set_shape(node, e, pads, *others)
        h, w, _, _, kh, kw, _, _, ow = e[4:13]
        _, sy, sx, _, dy, dx = e[13:19]
        taps, bits = kh * kw, 6
        while taps >> 6 - bits:  # sums of so many elements of 24 + bits bits stay below 2**30
            bits -= 1
        part = block(
            "averages.columns",
            weight=0,
            weight_exponent=0,
            kernel_size=taps,
            out_row=0,
            x_start=0,
            rows=h,
            columns=w,
            kernel_rows=kh,
            kernel_columns=kw,
            row_stride=sy,
            column_stride=sx,
            row_dilation=dy,
            column_dilation=dx,
            top_padding=pads[1],
            left_padding=pads[2],
            out_columns=ow,
            out_start=0,
            out_row_stride=e[25],
            out_column_stride=e[26],
            exponent=0,
            bits=max(bits, 0),
        )
        self.p = words(*list(self.p), *list(part))

    def set_weights(self, node, w):
        super().set_weights(node, w)
        loops = forms.get("averages")
        self.needs += [self.pieces, loops.same, loops.columns, loops.results]
        self.needs.append(self.part(_PART))
        self.pieces = loops.averages

    def _block(self, image, plane):
        p = super()._block(image, plane)
        p[_PART + _AVERAGES_X_START], p[_PART + _AVERAGES_OUT_START] = p[_X_START], p[_OUT_START]
        return p
