"""Uncompressed BMP: 1, 4 or 8 bits with a colour table, 24 bits, or 32 bits with masks."""

_BITFIELDS = const(3)  # the file has a mask for each colour


def decode(image):
    header = image.number(14, 4)
    if header == 12:  # OS/2: 16-bit sizes, colours of 3 bytes
        width, height = image.number(18, 2), image.number(20, 2)
        bits, compression, colours, each = image.number(24, 2), 0, 0, 3
    else:
        image.require(40 <= header <= 256, "BMP with a header of {} bytes".format(header))
        width, height = _signed(image, 18), _signed(image, 22)
        bits, compression = image.number(28, 2), image.number(30, 4)
        colours, each = image.number(46, 4), 4
    if compression and (compression, bits) != (_BITFIELDS, 32):
        image.refuse("BMP with compression {} of {} bits".format(compression, bits))
    image.size(width, abs(height))
    if bits in (1, 4, 8):
        nbytes = image.codes(bits, _colours(image, 14 + header, each, colours, bits))
    else:
        image.require(bits in (24, 32), "BMP of {} bits a pixel".format(bits))
        places = _places(image) if compression else (2, 1, 0)
        nbytes = image.places(bits // 8, *places)
    at, step = image.number(10, 4), (nbytes + 3) // 4 * 4
    if height > 0:  # rows are stored bottom-up
        at += (height - 1) * step
        step = -step
    image.rows(at, nbytes, step)


def _signed(image, at):
    v = image.number(at, 4)
    return v - (1 << 32) if v >> 31 else v


def _colours(image, at, each, n, bits):
    """Return the table as red, green, blue; entries that the file lacks are black."""
    n = n or 1 << bits
    image.require(n <= 1 << bits, "BMP with a table of {} colours".format(n))
    raw = image.bytes(at, n * each)
    table = bytearray(3 << bits)
    for i in range(n):
        for k in range(3):
            table[3 * i + k] = raw[each * i + 2 - k]
    return table


def _places(image):
    """Return the offsets of red, green and blue in the 4 bytes of a pixel, from their masks."""
    offsets = []
    for k in range(3):
        mask = image.bytes(54 + 4 * k, 4)
        place = mask.find(b"\xff")
        is_byte = place >= 0 and sum(mask) == 255
        image.require(is_byte, "BMP with colours that are not a byte each")
        offsets.append(place)
    return offsets
