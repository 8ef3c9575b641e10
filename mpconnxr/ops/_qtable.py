"""What goes with each channel of qconv and qdepthwise: see loops/qdot.

It lies before the weights: 8 bytes a channel, or few bits, of which a step makes those 8 bytes in
its scratch (see loops/channels).
"""

from .. import forms
from ..blocks import block

# params
_BITS = const(0)  # of a field with c and some of the lowest bits of M; 32: the 8 bytes
_WORD_BITS = const(1)  # of a field with f and the upper bits of M
_WORD = const(2)  # the least of these words, in 2**16 unless all are the same
_LOW = const(3)  # 128 * (how many bits of M are in c's field) + the lowest bits that all M share
_LEAST = const(4)  # signed; the least c
_N_PARAMS = const(5)

_AS_IT_IS = 32
_MOST_BITS = 29


class Table:
    """nbytes: before the weights; room: bytes that it takes in scratch; is_packed; start: where
    the loops find it, in w, or where it is unpacked to in scratch.
    """

    def __init__(self, node, first, channels):
        bits, word_bits, word, low = node.extents(first, _LEAST)
        [least] = node.signed(first + _LEAST, 1)
        self.is_packed, self.start = bits != _AS_IT_IS, 0
        self.nbytes, self.room, self._common = 8 * channels, 0, low & 127
        if self.is_packed:
            node.require(max(bits, word_bits) <= _MOST_BITS, "bits of a channel")
            low >>= 7
            node.require(low <= min(bits, 7), "lowest bits of a channel")
            node.require(not word_bits or word < 1 << 13, "least word")
            word <<= 16 if word_bits else 0
            self.nbytes, self.room = ((bits + word_bits) * channels + 31) // 32 * 4, 8 * channels
        self._channels, self._bits = channels, (bits, least, word_bits, word, low)

    def unpack(self, calls, w, scratch, start):
        """Emit the call that makes the words. start: in scratch, a multiple of 4."""
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
        """Emit the call that adds -x_zero_point * (sum of its row of w) to each c: loops/row_sums.

        row: bytes of one.
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
