"""The numbers of a file without repeating pieces: docs/format.md, mpconnxr/repeats.py.

Steps of the same kernel have much in common. A board makes the numbers whole again in its memory,
so this is done only where it makes a file smaller by some percent.
"""

from __future__ import annotations

_LEAST, _MOST = 3, 66  # bytes of a copy
_LITERALS = 128  # at a time, at most
_FAR = 1 << 16
_LEAST_SAVED = 256  # bytes
_LEAST_SHARE = 0.01  # of the file


def pays(whole: bytes, short: bytes, file_nbytes: int) -> bool:
    """True if the short form is worth a board's while."""
    return len(whole) - len(short) >= max(_LEAST_SAVED, _LEAST_SHARE * file_nbytes)


def shortened(data: bytes) -> bytes:
    """Literal bytes and copies of what came before, without the length in front."""
    found, literals, at = bytearray(), bytearray(), 0
    places: dict[bytes, list[int]] = {}
    while at < len(data):
        length, back = _longest(data, at, places)
        n = length if length > 2 + (back > 256) else 1
        if n > 1:
            _put_literals(found, literals)
            far = back > 256
            found += bytes([128 | far << 6 | length - _LEAST, (back - 1) & 255])
            found += bytes([back - 1 >> 8]) if far else b""
        else:
            literals.append(data[at])
        for i in range(at, at + n):
            places.setdefault(data[i : i + _LEAST], []).append(i)
        at += n
    _put_literals(found, literals)
    return bytes(found)


def _longest(data, at, places):
    """(length, how far back) of the longest copy that may stand here; the nearest of them."""
    best = (0, 0)
    for first in reversed(places.get(data[at : at + _LEAST], [])):
        if at - first > _FAR:
            break
        n = _LEAST
        while n < _MOST and at + n < len(data) and data[first + n] == data[at + n]:
            n += 1
        if n > best[0]:
            best = (n, at - first)
    return best


def _put_literals(found, literals):
    for i in range(0, len(literals), _LITERALS):
        piece = literals[i : i + _LITERALS]
        found += bytes([len(piece) - 1]) + piece
    literals.clear()


def whole(data: bytes, nbytes: int) -> bytes:
    """What `shortened` made shorter: so many bytes."""
    found, at = bytearray(), 0
    while len(found) < nbytes:
        c = data[at]
        if c < 128:
            found += data[at + 1 : at + 2 + c]
            at += 2 + c
            continue
        back = data[at + 1] + 1
        at += 2
        if c & 64:
            back += data[at] << 8
            at += 1
        for _ in range((c & 63) + _LEAST):
            found.append(found[-back])
    return bytes(found)
