"""Convert camera pixels into an input tensor: crop, scale and look up, in integers.

The file has a record (chunk 6) for each input that takes an image: five bytes are its number, the
order of its channels (0: gray, 1: RGB, 2: BGR), its layout (0: channels first), how a picture of
another shape fits (0: its middle, 1: stretched) and the number of tables.

An input of integers has a table of 256 bytes for all channels, or one for each: the converter has
computed it exactly. A float32 input has none. A factor and an offset (float32) for each of three
channels follow: value = pixel * factor + offset, both operations rounded to float32.
"""

import struct
from array import array

from .. import forms
from ..arguments import integer
from ..errors import InputError, ModelError
from ..parameters import block
from .integers import single
from .values import product

_HEAD_NBYTES = 5
_LARGEST = 1e30  # of a scale, as in build/grids
_SCALES_NBYTES = 24
_MOST_PIXELS = 1 << 13  # of a side, so that 16.16 fixed point stays within 29 bits
# Bytes of a pixel, and its code in the loop, by name of a format.
_FORMATS = {"gray8": (1, 0), "rgb888": (3, 1), "rgb565": (2, 2), "rgb565be": (2, 3)}


def attach(inputs, records):
    """Set the Image of each input that has a record in a chunk. Raises ModelError."""
    at = 0
    while at < len(records):
        if len(records) - at < _HEAD_NBYTES:
            raise ModelError("the image records have a wrong size")
        index, order, layout, fit, tables = records[at : at + _HEAD_NBYTES]
        if index >= len(inputs) or order > 2 or layout > 1 or fit > 1:
            raise ModelError("an image record is not valid")
        at += _HEAD_NBYTES
        end = at + (256 * tables if tables else _SCALES_NBYTES)
        values = bytes(records[at:end])
        if len(values) != end - at:
            raise ModelError("the image records have a wrong size")
        inputs[index].image = Image(inputs[index], order, layout, fit, tables, values)
        at = end


class Image:
    """The pictures that an input takes.

    Attributes:
        width, height, channels: dims of the tensor.
    """

    def __init__(self, t, order, layout, fit, tables, values):
        channels = 1 if order == 0 else 3
        dims = t.shape[-3:]
        if len(dims) != 3 or dims[2 * layout] != channels or t.nelem != product(dims):
            raise ModelError("{}: {} is not an image".format(t.name, t.shape))
        if t.dtype not in ("float32", "int8", "uint8"):
            raise ModelError("{}: an image of {}".format(t.name, t.dtype))
        if tables not in ((0,) if t.dtype == "float32" else (1, channels)):
            raise ModelError("{}: {} tables for {} channels".format(t.name, tables, channels))
        self._scales, self._bytes = (None, values) if tables else (_scales(values), None)
        self.channels, self._order, self._layout, self._fit = channels, order, layout, fit
        self.height, self.width = dims[:2] if layout else dims[1:]
        self._table = None

    def load(self, t, buf, width, height, format):
        """Fill t: see Tensor.load_image."""
        if not isinstance(format, str) or format not in _FORMATS:
            raise InputError("format: there are " + ", ".join(sorted(_FORMATS)))
        nbytes, kind = _FORMATS[format]
        integer("width", width, 1, _MOST_PIXELS)
        integer("height", height, 1, _MOST_PIXELS)
        try:
            buf = memoryview(buf)  # else a loop takes any number for an address
        except TypeError:
            raise InputError("buf: bytes are needed")
        if len(buf) != width * height * nbytes:
            raise InputError(
                "buf: {} bytes given; {} x {} pixels of {} are {} bytes".format(
                    len(buf), width, height, format, width * height * nbytes
                )
            )
        if self._table is None:
            self._table = self._make_table()
            self._bytes = None
        size = t.nbytes // t.nelem
        p = self._block(width, height, kind, size)
        forms.get("image").pixels(buf, self._table, t.view("B"), p)

    def _block(self, width, height, kind, size):
        """Return the parameters of the loop for a camera image of this size: see loops/image."""
        across, down = width, height
        if self._fit == 0:  # the largest part in the middle that has the tensor's proportions
            across = min(width, max(1, height * self.width // self.height))
            down = min(height, max(1, width * self.height // self.width))
        dx, dy = (across << 16) // self.width, (down << 16) // self.height
        left, top = (width - across) // 2 << 16, (height - down) // 2 << 16
        c, w, h = self.channels, self.width, self.height
        strides = (1, c, c * w) if self._layout else (w * h, 1, w)
        swap = 1 if self._order == 2 else 0
        return block(
            width, left + dx // 2, top + dy // 2, dx, dy, w, h, c, *(strides + (kind, swap, size))
        )

    def _make_table(self):
        """Return 256 entries a channel: the bits of a float32, or an integer's byte."""
        table = array("i", [0] * (256 * self.channels))
        if self._bytes:
            for i in range(len(table)):
                table[i] = self._bytes[i % len(self._bytes)]
            return table
        for c in range(self.channels):
            factor, offset = self._scales[2 * c], self._scales[2 * c + 1]
            for pixel in range(256):
                table[256 * c + pixel] = _bits(single(pixel * factor) + offset)
        return table


def _scales(values):
    scales = struct.unpack("<6f", values)
    if not all([-_LARGEST < s < _LARGEST for s in scales]):  # or nan
        raise ModelError("the scales of an image are not valid")
    return scales


def _bits(x):
    return struct.unpack("<i", struct.pack("<f", x))[0]
