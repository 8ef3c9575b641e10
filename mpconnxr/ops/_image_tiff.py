"""TIFF: the first image of a file, as uncompressed strips of gray, RGB or palette colours."""

from ._image import grays

_WIDTH = const(256)
_HEIGHT = const(257)
_BITS = const(258)
_COMPRESSION = const(259)
_KIND = const(262)
_FILL_ORDER = const(266)
_OFFSETS = const(273)
_ORIENTATION = const(274)
_SAMPLES = const(277)
_ROWS = const(278)
_PLANAR = const(284)
_COLOURS = const(320)
_TILE_WIDTH = const(322)
_FORMAT = const(339)
_MOST_FIELDS = const(255)
_MOST_SAMPLES = const(8)  # samples of a pixel
_NBYTES = {1: 1, 3: 2, 4: 4}  # bytes of a value by its type
_MUST_BE_1 = (
    (_COMPRESSION, "compression"),
    (_FILL_ORDER, "fill order"),
    (_ORIENTATION, "orientation"),
    (_PLANAR, "planar configuration"),
    (_FORMAT, "sample format"),
)


def decode(image):
    fields = _Fields(image)
    for tag, what in _MUST_BE_1:
        v = fields.number(tag, 1)
        image.require(v == 1, "TIFF with {} {}".format(what, v))
    image.require(not fields.place(_TILE_WIDTH), "TIFF of tiles")
    image.size(fields.number(_WIDTH), fields.number(_HEIGHT))
    nbytes = _layout(image, fields)
    rows = fields.number(_ROWS, image.height) or image.height
    offsets = fields.values(_OFFSETS)
    for y in range(image.height):
        if not y % rows:
            at = offsets(y // rows)
        image.require(at + nbytes <= image.n, "the file is truncated")
        image.row(y, image.x, at)
        at += nbytes


def _layout(image, fields):
    """Declare the pixel layout to the image; return the bytes of a row."""
    bits, n, kind = fields.number(_BITS, 1), fields.number(_SAMPLES, 1), fields.number(_KIND)
    if n == 1 and bits in (1, 2, 4, 8):
        if kind < 2:
            return image.codes(bits, grays(bits) if kind else grays(bits, 255, 0))
        if kind == 3:
            return image.codes(bits, _colours(fields.values(_COLOURS), 1 << bits))
    least = {1: 1, 2: 3}.get(kind, _MOST_SAMPLES + 1)
    if bits not in (8, 16) or not least <= n <= _MOST_SAMPLES:
        image.refuse("TIFF of kind {} with {} x {} bits".format(kind, n, bits))
    all_bits = fields.values(_BITS)
    for i in range(n):
        image.require(all_bits(i) == bits, "TIFF with samples of different bits")
    each = bits // 8
    first = each - 1 if fields.order == "little" else 0  # the upper byte
    places = [first + (each * k if kind == 2 else 0) for k in range(3)]
    return image.places(each * n, *places)


def _colours(values, n):
    """Return the table of colours. The file stores all reds first, then greens, then blues."""
    table = bytearray(3 * n)
    for i in range(3 * n):
        table[i] = values(i % 3 * n + i // 3) >> 8
    return table


class _Fields:
    """The fields of the file's first image."""

    def __init__(self, image):
        self.image = image
        self.order = "little" if image.x[0] == 0x49 else "big"
        at = image.number(4, 4, self.order)
        n = image.number(at, 2, self.order)
        image.require(n <= _MOST_FIELDS, "TIFF with {} fields".format(n))
        self.table = image.bytes(at, 2 + 12 * n)
        self.first = at

    def _get(self, at, n):
        return int.from_bytes(self.table[at : at + n], self.order)

    def place(self, tag):
        """Return the offset of a field's entry, or 0 if the field is absent."""
        for at in range(2, len(self.table), 12):
            if self._get(at, 2) == tag:
                return at
        return 0

    def values(self, tag):
        """Return a function that returns the i-th value of a field."""
        image, at = self.image, self.place(tag)
        kind, n = self._get(at + 2, 2), self._get(at + 4, 4)
        image.require(at and kind in _NBYTES, "TIFF without a field {}".format(tag))
        each = _NBYTES[kind]
        first = self._get(at + 8, 4) if n * each > 4 else self.first + at + 8

        def value(i):
            image.require(i < n, "TIFF with a short field {}".format(tag))
            return image.number(first + i * each, each, self.order)

        return value

    def number(self, tag, default=None):
        """Return the first value of a field, or the default if the field is absent."""
        if default is not None and not self.place(tag):
            return default
        return self.values(tag)(0)
