"""PBM, PGM and PPM as text (P1 to P3) and binary (P4 to P6).

The maximum value, which is white, is at most 255, or exactly 65535.
"""

from ._image import grays

_BREAK = b" \t\n\r\v\f"
_DIGITS = const(7)  # more than any number here needs


def decode(image):
    kind = image.x[1] - 0x30
    reader = _Reader(image, 2)
    width, height = reader.number(), reader.number()
    is_bitmap, n = kind in (1, 4), 3 if kind in (3, 6) else 1
    most = 1 if is_bitmap else reader.number()
    if not (1 <= most <= 255 or most == 65535):
        image.refuse("PNM with {} as its largest value".format(most))
    image.size(width, height)
    each = 2 if most > 255 else 1
    if kind == 4:
        nbytes = image.codes(1, grays(1, 255, 0))
    else:
        places = (0, each, 2 * each) if n == 3 else (0, 0, 0)
        nbytes = image.places(n * each, *places, most=min(most, 255))
    if kind == 1:
        image.table[0], image.table[1] = 255, 0
    if kind > 3:
        image.rows(reader.skip_break(), nbytes, nbytes)
    else:
        _text(image, reader, nbytes, most)


def _text(image, reader, nbytes, most):
    row = bytearray(nbytes)
    each = 2 if most > 255 else 1
    for y in range(image.height):
        for i in range(0, nbytes, each):
            v = reader.number(1 if most == 1 and image.x[1] == 0x31 else _DIGITS)
            image.require(v <= most, "PNM with a value above its largest one")
            row[i] = v >> 8 if each == 2 else v
        image.row(y, row, 0)


class _Reader:
    """Reader of numbers that are separated by white space and comments."""

    def __init__(self, image, at):
        self.image, self.at = image, at

    def _byte(self):
        self.image.require(self.at < self.image.n, "the file is truncated")
        return self.image.x[self.at]

    def _is_digit(self):
        return self.at < self.image.n and 0x30 <= self.image.x[self.at] <= 0x39

    def number(self, most=_DIGITS):
        """Return the next number, which has at most `most` digits."""
        while not self._is_digit():
            if self._byte() == 0x23:  # skip a comment up to the end of its line
                while self._byte() not in b"\n\r":
                    self.at += 1
            self.skip_break()
        v = 0
        while most and self._is_digit():
            v = 10 * v + self._byte() - 0x30
            self.at += 1
            most -= 1
        return v

    def skip_break(self):
        """Skip one byte of white space and return the offset behind it."""
        self.image.require(self._byte() in _BREAK, "PNM with something other than a number")
        self.at += 1
        return self.at
