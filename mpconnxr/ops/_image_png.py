"""PNG without interlacing: gray, RGB and palettes, with or without alpha.

Checksums of chunks are verified where the firmware has `binascii.crc32`; the checksum of the
decompressed data is not. MicroPython's `deflate` does not clear its window: a file that refers to
data before its own start reads what was there.
"""

import io

from ..blocks import block
from ..errors import UnsupportedError
from ._image import grays

_SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # samples of a pixel by colour type
_BITS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
_LOWER = const(32)  # bit of a lower-case chunk name: a decoder may ignore the chunk


def decode(image):
    chunks = _Chunks(image)
    image.require(chunks.next() == b"IHDR" and chunks.nbytes == 13, "PNG without a header")
    head = image.bytes(chunks.at, 13)
    bits, kind = head[8], head[9]
    if bits not in _BITS.get(kind, ()) or head[10] or head[11]:
        image.refuse("PNG of kind {} with {} bits".format(kind, bits))
    image.require(head[12] == 0, "interlaced PNG is not decoded")
    image.size(int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big"))
    name, colours = chunks.next(), None
    while name != b"IDAT":
        if name == b"PLTE":
            image.require(chunks.nbytes <= 768, "PNG with a large palette")
            colours = image.bytes(chunks.at, chunks.nbytes)
        else:
            image.require(name[0] & _LOWER, "PNG without pixels, or with an unknown chunk")
        name = chunks.next()
    nbytes = _layout(image, bits, kind, colours)
    pixels = _decompressed(image, chunks, (nbytes + 1) * image.height)
    _rows(image, pixels, nbytes, max(1, bits * _SAMPLES[kind] // 8))


def _layout(image, bits, kind, colours):
    """Declare the pixel layout to the image; return the bytes of a row."""
    if kind == 3:
        image.require(colours, "PNG without its palette")
        return image.codes(bits, _palette(colours, 3 << bits))
    if kind == 0 and bits < 16:
        return image.codes(bits, grays(bits))
    each = bits // 8
    return image.places(each * _SAMPLES[kind], *[each * k if kind & 2 else 0 for k in range(3)])


def _palette(colours, n):
    """Return the table; entries beyond the file's palette are black."""
    table = bytearray(n)
    for i in range(min(n, len(colours))):
        table[i] = colours[i]
    return table


def _rows(image, pixels, nbytes, step):
    row, above, kind = bytearray(nbytes), bytearray(nbytes), bytearray(1)
    for y in range(image.height):
        _fill(image, pixels, kind)
        _fill(image, pixels, row)
        image.require(kind[0] < 5, "PNG with an unknown filter")
        if kind[0]:
            image.loops.unfilter(
                above,
                above,
                row,
                block(
                    "pixels.unfilter",
                    unfilter_bytes=nbytes,
                    unfilter_method=kind[0],
                    unfilter_step=step,
                ),
            )
        image.row(y, row, 0)
        row, above = above, row


def _fill(image, pixels, row):
    """Read the bytes of the next row from the decompressed data."""
    try:
        n = more = pixels.readinto(row)
        while more and n < len(row):
            more = pixels.readinto(memoryview(row)[n:])
            n += more or 0
    except (OSError, EOFError):
        n = 0
    image.require(n == len(row), "the PNG's compressed data is damaged")


def _decompressed(image, chunks, n):
    """Return a stream of n decompressed bytes.

    Its memory is bounded by n and by the size of the file.
    """
    try:
        import deflate
    except ImportError:
        raise UnsupportedError(image.name + ": this firmware has no deflate, which a PNG needs")
    file = _Compressed(image, chunks)
    method, flags = file.byte(), file.byte()
    is_known = method & 15 == 8 and method < 0x80 and not flags & 32
    image.require(is_known and not (256 * method + flags) % 31, "PNG of an unknown compression")
    bits = 8
    while bits < (method >> 4) + 8 and 1 << bits < n:
        bits += 1
    return deflate.DeflateIO(file, deflate.RAW, bits)


class _Chunks:
    """Iterator over the chunks of a file.

    Attributes:
        at: offset of the current chunk's contents.
        nbytes: size of the current chunk's contents.
    """

    def __init__(self, image):
        self.image, self.at, self.nbytes = image, 4, 0

    def next(self):
        """Advance to the next chunk and return its name."""
        image, begin = self.image, self.at + self.nbytes + 4  # skip the checksum
        self.at, self.nbytes = begin + 8, image.number(begin, 4, "big")
        name, end = image.bytes(begin + 4, 4), self.at + self.nbytes
        image.require(end + 4 <= image.n, "the file is truncated")
        if not name[0] & _LOWER:
            checksum = _crc32(image.x[begin + 4 : end])
            image.require(checksum in (None, image.number(end, 4, "big")), "a checksum is wrong")
        return name


def _crc32(data):
    try:
        from binascii import crc32
    except ImportError:
        return None
    return crc32(data) & 0xFFFFFFFF


class _Compressed(io.IOBase):
    """The contents of all IDAT chunks as a stream, which deflate reads byte by byte."""

    def __init__(self, image, chunks):
        self.x, self.chunks = image.x, chunks
        self.at, self.end = chunks.at, chunks.at + chunks.nbytes

    def readinto(self, buffer):
        """Read one byte; return 0 at the end."""
        while self.at == self.end:
            if self.chunks.next() != b"IDAT":
                return 0
            self.at = self.chunks.at
            self.end = self.at + self.chunks.nbytes
        buffer[0] = self.x[self.at]
        self.at += 1
        return 1

    def byte(self):
        """Return the next byte."""
        one = bytearray(1)
        self.chunks.image.require(self.readinto(one), "PNG without pixels")
        return one[0]
