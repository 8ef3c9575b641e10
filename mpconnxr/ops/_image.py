"""The image file that the decoders of each format read, and the output rows that they write.

See image_decoder.
"""

from .. import forms
from ..blocks import block
from ..errors import InputError
from ..loops.pixels import (
    _BITS_PER_PIXEL,
    _BLUE,
    _BYTES_PER_PIXEL,
    _GREEN,
    _OUT_RED,
    _OUT_START,
    _PIXELS,
    _RED,
    _X_START,
)

_MOST = const(1 << 20)  # rows, or pixels of one


class Image:
    """An image file in memory, and the output tensor that its pixels go to.

    Args:
        name: of the step, for messages.
        x: bytes of the file.
        n: length of the file in bytes.
        out: buffer with space for the largest image that the two dims allow.
        dims: run-time dims of height and width.
        red: index of red in an output pixel (0 or 2), or 3 for one gray channel.
    """

    def __init__(self, name, x, n, out, dims, red):
        self.name, self.x, self.n, self.out, self.dims = name, x, n, out, dims
        self.p = block(
            "pixels.direct",
            pixels=0,
            out_red=red,
            out_start=0,
            x_start=0,
            bytes_per_pixel=0,
            red=0,
            green=0,
            blue=0,
        )
        self.loops = forms.get("pixels")
        self.loop = self.table = None
        self.height = self.width = 0

    def refuse(self, what):
        """Raise InputError with the step's name."""
        raise InputError("{}: {}".format(self.name, what))

    def require(self, condition, what):
        """Raise InputError unless the condition holds."""
        if not condition:
            self.refuse(what)

    def bytes(self, at, n):
        """Return a copy of n bytes of the file, from `at` on."""
        self.require(at + n <= self.n, "the file is truncated")
        return bytes(self.x[at : at + n])

    def number(self, at, n, order="little"):
        """Return an unsigned integer of n bytes."""
        return int.from_bytes(self.bytes(at, n), order)

    def size(self, width, height):
        """Set the size of the image. Call it before codes, places and rows."""
        if not (0 < width < _MOST and 0 < height < _MOST):
            self.refuse("an image of {} x {} pixels".format(width, height))
        self.dims[0].set(height)
        self.dims[1].set(width)
        self.width, self.height = width, height

    def codes(self, bits, table):
        """Declare that a pixel is an index of 1, 2, 4 or 8 bits into a table of colours.

        Args:
            bits: of an index.
            table: 3 bytes for each colour.

        Returns:
            int: bytes of a row of the file.
        """
        self.loop, self.table, self.p[_BITS_PER_PIXEL] = self.loops.indexed, table, bits
        return (self.width * bits + 7) // 8

    def places(self, step, red, green, blue, most=255):
        """Declare that a pixel consists of `step` bytes.

        Args:
            step: bytes of a pixel.
            red: offset of red in a pixel.
            green: offset of green.
            blue: offset of blue.
            most: value of full brightness.

        Returns:
            int: bytes of a row of the file.
        """
        p = self.p
        p[_BYTES_PER_PIXEL], p[_RED], p[_GREEN], p[_BLUE] = step, red, green, blue
        self.loop, self.table = self.loops.direct, bytearray(256)
        for v in range(256):
            self.table[v] = (min(v, most) * 255 + most // 2) // most
        return self.width * step

    def row(self, y, source, at):
        """Write the pixels of row y from the bytes of `source`, from `at` on.

        All of them must be there.
        """
        p = self.p
        p[_PIXELS], p[_OUT_START], p[_X_START] = (
            self.width,
            y * self.width * (1 if p[_OUT_RED] == 3 else 3),
            at,
        )
        self.loop(source, self.table, self.out, p)

    def rows(self, at, nbytes, step):
        """Write all rows, which lie `step` bytes apart in the file."""
        last = at + (self.height - 1) * step
        self.require(
            min(at, last) >= 0 and max(at, last) + nbytes <= self.n, "the file is truncated"
        )
        for y in range(self.height):
            self.row(y, self.x, at + y * step)


def grays(bits, dark=0, bright=255):
    """Return a table for codes(): shades from dark (code 0) to bright."""
    most = (1 << bits) - 1
    table = bytearray(3 << bits)
    for i in range(3 << bits):
        v = i // 3
        table[i] = (dark * (most - v) + bright * v) // most
    return table
