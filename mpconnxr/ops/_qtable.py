"""Table of bias, multiplier and shift per channel, for qconv and qdepthwise (see loops/qdot).

It lies before the weights: either 8 bytes a channel, or packed into fewer bits, which a step
unpacks to 8 bytes a channel in its scratch (see loops/channels).
"""

from .. import forms
from ..blocks import block

# params
_BITS = const(0)  # width of the field of bias c and the lowest bits of multiplier M; 32: unpacked
_WORD_BITS = const(1)  # width of the field of shift f and the upper bits of M
_WORD = const(2)  # least of these words, in units of 2**16 unless all are equal
_LOW = const(3)  # 128 * (bits of M in the field of c) + the lowest bits that all M share
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
        bits, word_bits, word, low = node.extents(first, _LEAST)
        [least] = node.signed(first + _LEAST, 1)
        self.is_packed, self.start = bits != _AS_IT_IS, 0
        self.nbytes, self.unpacked_nbytes, self._common = 8 * channels, 0, low & 127
        if self.is_packed:
            node.require(max(bits, word_bits) <= _MOST_BITS, "bits of a channel")
            low >>= 7
            node.require(low <= min(bits, 7), "lowest bits of a channel")
            node.require(not word_bits or word < 1 << 13, "least word")
            word <<= 16 if word_bits else 0
            self.nbytes, self.unpacked_nbytes = (
                ((bits + word_bits) * channels + 31) // 32 * 4,
                8 * channels,
            )
        self._channels, self._bits = channels, (bits, least, word_bits, word, low)

    def unpack(self, calls, w, scratch, start):
        """Emit the call that unpacks the table to the scratch at byte `start`, a multiple of 4."""
        self.start = start
        bits, least, word_bits, word, low = self._bits
        p = block(
            "channels",
            x_start=0,
            out_start=start,
            channels=self._channels,
            first_bits=bits,
            least_bias=least,
            word_bits=word_bits,
            least_word=word,
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
