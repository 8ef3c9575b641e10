"""What the modules of formats work on (see image_decoder): a file, and where its pixels go."""

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
    """A file, x of n bytes. out: memory for as many pixels as the two dims can have."""

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
        """Raises InputError with the step's name."""
        raise InputError("{}: {}".format(self.name, what))

    def require(self, condition, what):
        """InputError unless the condition holds."""
        if not condition:
            self.refuse(what)

    def bytes(self, at, n):
        """A copy of n bytes of the file."""
        self.require(at + n <= self.n, "the file is truncated")
        return bytes(self.x[at : at + n])

    def number(self, at, n, order="little"):
        """An unsigned integer of n bytes."""
        return int.from_bytes(self.bytes(at, n), order)

    def size(self, width, height):
        """Takes the size of the image. It comes before codes, places and rows."""
        if not (0 < width < _MOST and 0 < height < _MOST):
            self.refuse("an image of {} x {} pixels".format(width, height))
        self.dims[0].set(height)
        self.dims[1].set(width)
        self.width, self.height = width, height

    def codes(self, bits, table):
        """A pixel is a code of 1, 2, 4 or 8 bits; the table has 3 colours for each. Gives the
        bytes of a row.
        """
        self.loop, self.table, self.p[_BITS_PER_PIXEL] = self.loops.indexed, table, bits
        return (self.width * bits + 7) // 8

    def places(self, step, red, green, blue, most=255):
        """A pixel takes `step` bytes, with its colours at these places; most: the brightest. Gives
        the bytes of a row.
        """
        p = self.p
        p[_BYTES_PER_PIXEL], p[_RED], p[_GREEN], p[_BLUE] = step, red, green, blue
        self.loop, self.table = self.loops.direct, bytearray(256)
        for v in range(256):
            self.table[v] = (min(v, most) * 255 + most // 2) // most
        return self.width * step

    def row(self, y, source, at):
        """Pixels of row y, whose bytes begin at a place in source; all of them must be there."""
        p = self.p
        p[_PIXELS], p[_OUT_START], p[_X_START] = (
            self.width,
            y * self.width * (1 if p[_OUT_RED] == 3 else 3),
            at,
        )
        self.loop(source, self.table, self.out, p)

    def rows(self, at, nbytes, step):
        """All rows, one `step` bytes behind the other in the file."""
        last = at + (self.height - 1) * step
        self.require(
            min(at, last) >= 0 and max(at, last) + nbytes <= self.n, "the file is truncated"
        )
        for y in range(self.height):
            self.row(y, self.x, at + y * step)


def grays(bits, dark=0, bright=255):
    """A table for codes(): from dark, of code 0, to bright."""
    most = (1 << bits) - 1
    table = bytearray(3 << bits)
    for i in range(3 << bits):
        v = i // 3
        table[i] = (dark * (most - v) + bright * v) // most
    return table
