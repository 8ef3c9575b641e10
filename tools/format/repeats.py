"""The numbers of a file without repeating pieces: docs/format.md, mpconnxr/repeats.py.

Steps of the same kernel have much in common. A board makes the numbers whole again in its memory,
so this is done only where it makes a file smaller by some percent.
"""

from __future__ import annotations

_LEAST, _MOST = 3, 66  # bytes of a copy
_NEAR = 256  # copies from beyond take a byte more
_LITERALS = 128  # at a time, at most
_FAR = 1 << 16
_TRIED = 100  # places at most, the nearest ones, of which a copy may be
_LEAST_SAVED = 256  # bytes
_LEAST_SHARE = 0.01  # of the file


def pays(whole: bytes, short: bytes, file_nbytes: int) -> bool:
    """True if the short form is worth a board's while."""
    return len(whole) - len(short) >= max(_LEAST_SAVED, _LEAST_SHARE * file_nbytes)


def shortened(data: bytes) -> bytes:
    """Literal bytes and copies of what came before, without the length in front.

    As few bytes as can be, but for counts of long literals, and far copies of what is frequent.
    """
    found, literals, at = bytearray(), bytearray(), 0
    for length, back in _cheapest(data):
        if back:
            _put_literals(found, literals)
            far = back > _NEAR
            found += bytes([128 | far << 6 | length - _LEAST, (back - 1) & 255])
            found += bytes([back - 1 >> 8]) if far else b""
        else:
            literals.append(data[at])
        at += length
    _put_literals(found, literals)
    return bytes(found)


def _cheapest(data: bytes) -> list[tuple[int, int]]:
    """(length, how far back), or (1, 0) for a literal, of the pieces that take the fewest bytes.

    From the end on: what is behind each byte costs `alone`, or `after` a literal.
    """
    n = len(data)
    copies = _copies(data)
    alone, after, choice = [0] * (n + 1), [0] * (n + 1), [((1, 0), (1, 0))] * n
    for at in reversed(range(n)):
        costs = [(2 + (b > _NEAR) + alone[at + m], (m, b)) for m, b in copies[at]]
        one = (1, 0)
        alone[at], first = min([(2 + after[at + 1], one), *costs])
        after[at], then = min([(1 + after[at + 1], one), *costs])
        choice[at] = first, then
    found, at, behind_literal = [], 0, False
    while at < n:
        piece = choice[at][behind_literal]
        found.append(piece)
        at, behind_literal = at + piece[0], not piece[1]
    return found


def _copies(data: bytes) -> list[list[tuple[int, int]]]:
    """For each byte copies that may stand there: each longer than all nearer ones."""
    places: dict[bytes, list[int]] = {}
    found = []
    for at in range(len(data)):
        seen = places.setdefault(data[at : at + _LEAST], [])
        copies, longest = [], 0
        end = min(_MOST, len(data) - at)
        for first in seen[: -_TRIED - 1 : -1]:
            if at - first > _FAR or longest == end:
                break
            if data[first + longest] == data[at + longest]:
                n = _length(data, first, at)
                if n > longest:
                    copies.append((n, at - first))
                    longest = n
        found.append(copies)
        seen.append(at)
    return found


def _length(data, first, at):
    n = _LEAST
    while n < _MOST and at + n < len(data) and data[first + n] == data[at + n]:
        n += 1
    return n


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
