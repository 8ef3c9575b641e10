"""Write image files from their pixels, to test kernel image_decoder."""

from __future__ import annotations

import struct
import zlib

import numpy as np

_PNG = b"\x89PNG\r\n\x1a\n"
_KINDS = {"gray": 0, "rgb": 2, "palette": 3, "gray+alpha": 4, "rgb+alpha": 6}


def gray_of(rgb: np.ndarray) -> np.ndarray:
    """Return (height, width, 1) grays of (height, width, 3) colours."""
    r, g, b = np.moveaxis(rgb.astype(np.int64), 2, 0)
    return ((19595 * r + 38470 * g + 7471 * b + 32768) >> 16).astype(np.uint8)[..., None]


def packed(codes: np.ndarray, bits: int) -> list[bytes]:
    """Return rows of (height, n) codes of these bits, the first one in the high bits."""
    if bits == 16:
        return [row.astype(">u2").tobytes() for row in codes]
    spread = (codes[..., None] >> np.arange(bits - 1, -1, -1)) & 1
    flat = spread.reshape(len(codes), codes.shape[1] * bits).astype(np.uint8)
    return [np.packbits(row).tobytes() for row in flat]


def chunk(name: bytes, contents: bytes = b"") -> bytes:
    check = zlib.crc32(name + contents)
    return struct.pack(">I", len(contents)) + name + contents + struct.pack(">I", check)


def png(
    samples: np.ndarray,
    kind: str = "rgb",
    bits: int = 8,
    filters=(0,),
    palette: np.ndarray | None = None,
    piece: int = 1 << 16,
    level: int = 9,
    before: bytes = b"",
    interlace: int = 0,
) -> bytes:
    """Return a PNG.

    Args:
        samples: (height, width, samples of a pixel).
        kind: colour type, such as "rgb".
        bits: bits of a sample.
        filters: filters of the rows, in turn.
        palette: (colours, 3), or None.
        piece: bytes of an IDAT chunk.
        level: level of compression.
        before: chunks that precede the palette.
        interlace: number of the interlace method.
    """
    height, width, n = samples.shape
    raw, above = b"", None
    for y, row in enumerate(packed(samples.reshape(height, width * n), bits)):
        above = above or bytes(len(row))
        kind_of_row = filters[y % len(filters)]
        raw += bytes([kind_of_row]) + filtered(row, above, kind_of_row, max(1, n * bits // 8))
        above = row
    data = zlib.compress(raw, level)
    head = struct.pack(">IIBBBBB", width, height, bits, _KINDS[kind], 0, 0, interlace)
    file = _PNG + chunk(b"IHDR", head) + before
    if palette is not None:
        file += chunk(b"PLTE", palette.astype(np.uint8).tobytes())
    pieces = [data[i : i + piece] for i in range(0, len(data), piece)]
    return file + b"".join(chunk(b"IDAT", p) for p in pieces) + chunk(b"IEND")


def filtered(row: bytes, above: bytes, kind: int, step: int) -> bytes:
    """Return a row of a PNG after a filter.

    Args:
        row: bytes of the row.
        above: bytes of the row above it.
        kind: number of the filter.
        step: bytes of a pixel.
    """
    x, b = (np.frombuffer(r, np.uint8).astype(int) for r in (row, above))
    a, c = (np.concatenate([np.zeros(step, int), r])[: len(r)] for r in (x, b))
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    nearest = np.where((pa <= pb) & (pa <= pc), a, np.where(pb <= pc, b, c))
    return bytes(((x - (0, a, b, (a + b) // 2, nearest)[kind]) & 255).astype(np.uint8))


def bmp(
    samples: np.ndarray,
    bits: int = 24,
    palette: np.ndarray | None = None,
    from_top: bool = False,
    header: int = 40,
    masks: tuple[int, ...] = (),
    gap: int = 0,
) -> bytes:
    """Return a BMP.

    Args:
        samples: (height, width, bytes), blue first, or codes of colours.
        bits: bits of a pixel.
        palette: (colours, 3), red first, or None.
        from_top: the first row is the top one.
        header: size of the second header [bytes].
        masks: masks of the colours, if they are needed.
        gap: number of bytes before the pixels.
    """
    height, width, _ = samples.shape
    rows = packed(samples.reshape(height, -1), min(bits, 8))
    rows = [row + bytes(-len(row) % 4) for row in (rows if from_top else rows[::-1])]
    table, colours = b"", 0
    if palette is not None:
        end = b"" if header == 12 else b"\0"
        table, colours = b"".join(bytes(c[::-1]) + end for c in palette.tolist()), len(palette)
    if header == 12:
        about = struct.pack("<IHHHH", header, width, height, 1, bits)
    else:
        size = (header, width, -height if from_top else height, 1, bits)
        about = struct.pack("<IiiHHIIiiII", *size, 3 if masks else 0, 0, 0, 0, colours, 0)
        about += struct.pack(f"<{len(masks)}I", *masks)
        about += bytes(max(header - len(about), 0))
    at = 14 + len(about) + len(table) + gap
    data = b"".join(rows)
    return struct.pack("<2sIII", b"BM", at + len(data), 0, at) + about + table + bytes(gap) + data


def pnm(samples: np.ndarray, kind: int, most: int = 255, comment: str = "") -> bytes:
    """Return a PNM of kind 1 to 6.

    Args:
        samples: (height, width, 1 or 3).
        kind: the kind.
        most: the greatest sample.
        comment: text in the header.
    """
    height, width, n = samples.shape
    head = f"P{kind}\n{comment}{width} {height}\n" + (f"{most}\n" if kind not in (1, 4) else "")
    rows = samples.reshape(height, width * n)
    if kind < 4:
        between = "" if kind == 1 else " "
        return (head + "\n".join(between.join(map(str, row)) for row in rows)).encode()
    bits = 1 if kind == 4 else 16 if most > 255 else 8
    return head.encode() + b"".join(packed(rows, bits))


def tiff(
    samples: np.ndarray,
    bits: int = 8,
    kind: int = 2,
    order: str = "<",
    rows: int = 0,
    palette: np.ndarray | None = None,
    **fields,
) -> bytes:
    """Return a TIFF.

    Args:
        samples: (height, width, samples of a pixel).
        bits: bits of a sample.
        kind: photometric interpretation.
        order: byte order, "<" or ">".
        rows: rows of a strip, 0 for all.
        palette: (colours, 3), or None.
        **fields: f259=5 changes field 259, f259=None drops it.
    """
    height, width, n = samples.shape
    lines = packed(samples.reshape(height, width * n), bits)
    if bits == 16 and order == "<":
        lines = [np.frombuffer(row, ">u2").astype("<u2").tobytes() for row in lines]
    rows = rows or height
    strips = [b"".join(lines[y : y + rows]) for y in range(0, height, rows)]
    data, offsets = b"", []
    for strip in strips:
        offsets.append(8 + len(data))
        data += strip + b"\xee" * (len(strip) % 2 + 2)
    values = {256: (3, [width]), 257: (3, [height]), 258: (3, [bits] * n), 259: (3, [1])}
    values |= {262: (3, [kind]), 273: (4, offsets), 277: (3, [n]), 278: (4, [rows])}
    if palette is not None:
        values[320] = (3, (palette.T.astype(int) * 257).reshape(-1).tolist())
    for name, v in fields.items():
        values[int(name[1:])] = (3, [v])
    values = {tag: v for tag, v in values.items() if v[1] != [None]}
    table, more, first = b"", b"", 8 + len(data)
    behind = first + 2 + 12 * len(values) + 4
    for tag, (dtype, results) in sorted(values.items()):
        raw = struct.pack(f"{order}{len(results)}{'H' if dtype == 3 else 'I'}", *results)
        if len(raw) > 4:
            raw, more = struct.pack(f"{order}I", behind + len(more)), more + raw
        table += struct.pack(f"{order}HHI", tag, dtype, len(results)) + raw.ljust(4, b"\0")
    head = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", 42, first)
    return head + data + struct.pack(f"{order}H", len(values)) + table + bytes(4) + more
