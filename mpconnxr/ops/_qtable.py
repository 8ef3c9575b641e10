"""Table of bias c, multiplier and shift per channel, for qconv and qdepthwise (see loops/qdot).

It lies before the weights: either 8 bytes a channel, or packed into fewer bits, which a step
unpacks to 8 bytes a channel in its scratch (see loops/channels). Where zx is known, c is

    bias - zx * (sum of w - zw over the row)    or without zx * (sum of w), which a run then adds

With int32 outputs, the 8 bytes are two other words, see loops/qdot32, and never packed.
"""

from .. import forms
from ..blocks import block

# params
_BITS = const(0)  # width of the first field, c and some bits of multiplier M; 32: unpacked
_SCALE_BITS = const(1)  # width of the second, the scale: shift f and 23 bits of M
_SCALE = const(2)  # least scale, in units of 2**16 unless all are equal
_LOW = const(3)  # 128 * (bits of M in the first field) + the lowest bits that all M share
_LEAST = const(4)  # signed; least c
_N_PARAMS = const(5)

_AS_IT_IS = 32
_MOST_BITS = 29


class Table:
    """The table of one step.

    Attributes:
        nbytes: bytes of the table before the weights.
        unpacked_nbytes: bytes of scratch that it is unpacked to.
        is_packed: True if it is packed.
        start: offset at which the loops read it, in w or (if packed) in the scratch.
    """

    def __init__(self, node, first, channels):
        bits, scale_bits, scale, low = node.extents(first, _LEAST)
        [least] = node.signed(first + _LEAST, 1)
        self.is_packed, self.start = bits != _AS_IT_IS, 0
        self.nbytes, self.unpacked_nbytes, self._common = 8 * channels, 0, low & 127
        if self.is_packed:
            node.require(max(bits, scale_bits) <= _MOST_BITS, "bits of a channel")
            low >>= 7
            node.require(low <= min(bits, 7), "lowest bits of a channel")
            node.require(not scale_bits or scale < 1 << 13, "least scale")
            scale <<= 16 if scale_bits else 0
            self.nbytes, self.unpacked_nbytes = (
                ((bits + scale_bits) * channels + 31) // 32 * 4,
                8 * channels,
            )
        self._channels, self._bits = channels, (bits, least, scale_bits, scale, low)

    def unpack(self, calls, w, scratch, start):
        """Emit the call that unpacks the table to the scratch at byte `start`, a multiple of 4."""
        self.start = start
        bits, least, scale_bits, scale, low = self._bits
        p = block(
            "channels",
            x_start=0,
            out_start=start,
            channels=self._channels,
            first_bits=bits,
            least_bias=least,
            scale_bits=scale_bits,
            least_scale=scale,
            low_bits=low,
            common_bits=self._common,
        )
        calls.call(forms.get("channels").channels, w, None, scratch, p)

    def add_sums(self, node, calls, groups, row, x_zero_point):
        """Emit the call that adds -x_zero_point * (sum of its row of w) to each c.

        A row has `row` bytes. See loops/row_sums.
        """
        node.require(255 * row * x_zero_point < 1 << 26, "sums of rows")
        p = block(
            "row_sums.row_sums",
            w_start=self.nbytes // 4,
            out_start=self.start // 4,
            groups=groups,
            channels=self._channels // groups,
            columns=row // 4,
            factor=x_zero_point << 5,
        )
        w, scratch = calls.place(node.inputs[1], "i"), calls.place(node.scratch[0], "i")
        calls.call(forms.get("row_sums").row_sums, None, w, scratch, p)
