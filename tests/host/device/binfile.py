"""Read and damage a .bin by the text of docs/format.md, independently of the tools."""

from __future__ import annotations

import hashlib
import struct

HEADER_NBYTES = 64
DATA, NAMES, GOLDEN, SOURCE, NODES, GRIDS, IMAGES, STREAMED, HALVES = range(9)
WIDE = 5  # bytes of the longest number


class File:
    """A parsed .bin.

    Attributes:
        words: all numbers of the tables; other attributes are values of them, or (name_at) indices
            into them.
        chunks: (kind, offset, size, digest, place).
        tensors: (index of its first number, dtype, storage, flags, dims, offset, size or None).
    """

    def __init__(self, data: bytes):
        self.data = data
        head = struct.unpack_from("<8s2H3I32s2I", data)
        self.magic, self.version, self.kind, self.features, self.nbytes, self.tables = head[:6]
        self.digest, n_chunks, names_nbytes = head[6:]
        names_at = HEADER_NBYTES + 32 * n_chunks
        digests = data[HEADER_NBYTES:names_at]
        self.first = names_at + names_nbytes
        self.kernels = data[names_at : self.first].split(b"\0")[:-1]
        self.words, ends = _decoded(data[: self.tables], self.first)
        self.at = 0
        self.arena, self.streamed = self.take(2)
        self.chunks = list(self._chunks([digests[i : i + 32] for i in range(0, len(digests), 32)]))
        self.tensors = [self._tensor() for _ in range(*self.take(1))]
        self.inputs_at = self.at + 1
        self.inputs = self.take(*self.take(1))
        self.outputs = self.take(*self.take(1))
        self.runtime = self.take(*self.take(1)) + self.take(1) if self.features & 2 else []
        (self.n_graph,) = self.take(1)
        self.graph_at = self.at
        self.graph = self.take(self.n_graph)
        self.end = ends[self.at - 1]
        del self.words[self.at :]  # what padding looks like

    def take(self, n):
        values = self.words[self.at : self.at + n]
        self.at += n
        return values

    def _chunks(self, digests):
        end = self.tables
        for digest in digests:
            kind, nbytes = self.take(2)
            (place,) = self.take(1) if kind in (STREAMED, HALVES) else (None,)
            offset = end + -end % 16
            end = offset + nbytes
            yield kind, offset, nbytes, digest, place

    def _tensor(self):
        at = self.at
        dtype, about, rank = self.take(3)
        dims = tuple(self.take(rank))
        (offset,) = self.take(1)
        storage, flags = about & 3, about >> 2
        has_size = flags & 2 or storage == 1 and (dtype == 8 or dtype > 63)
        (size,) = self.take(1) if has_size else (None,)
        return at, dtype, storage, flags, dims, offset, size

    def chunk(self, kind):
        return next((self.data[c[1] : c[1] + c[2]] for c in self.chunks if c[0] == kind), None)

    def steps(self):
        """Return [(kernel, inputs, outputs, scratch, params, reads)]."""
        words, steps = list(self.graph), []
        while words:
            kernel, *counts, n_bodies, n_reads = words[:7]
            del words[:7]
            assert n_bodies == 0
            groups = []
            for n in [*counts, n_reads]:
                groups.append(words[:n])
                del words[:n]
            steps.append((self.kernels[kernel].decode(), *groups))
        return steps

    def changed(self, *changes: tuple[int, int], words=None, width=1) -> bytes:
        """Return the file with numbers replaced at (index, value), signed as an attacker would.

        `words` replaces all numbers; each number takes at least `width` bytes.
        """
        words = list(self.words if words is None else words)
        for i, value in changes:
            words[i] = value
        tables = self.data[: self.first] + b"".join(_encoded(w, width) for w in words)
        tables += bytes(-len(tables) % 16)
        data = bytearray(tables + self.data[self.tables :])
        struct.pack_into("<2I", data, 16, len(data), len(tables))
        return signed(bytes(data))

    def wide(self) -> bytes:
        """Return the file with all its numbers encoded in 5 bytes, so that any can be replaced."""
        return self.changed(width=WIDE)


def signed(data: bytes) -> bytes:
    """Return the file with a right digest of its tables."""
    tables = data[: struct.unpack_from("<I", data, 20)[0]]
    return data[:24] + hashlib.sha256(tables[:24] + tables[56:]).digest() + data[56:]


def with_bytes(data: bytes, old: bytes, new: bytes) -> bytes:
    """Return the file with bytes of a chunk replaced, which occur once, and right digests."""
    assert data.count(old) == 1 and len(new) == len(old)
    data = bytearray(data.replace(old, new))
    for i, (_, offset, nbytes, _, _) in enumerate(File(bytes(data)).chunks):
        at = HEADER_NBYTES + 32 * i
        data[at : at + 32] = hashlib.sha256(data[offset : offset + nbytes]).digest()
    return signed(bytes(data))


def patched(data: bytes, code: str, offset: int, value: int) -> bytes:
    """Return the file with a field of its header replaced, and a right digest.

    Args:
        data: the file.
        code: struct code of the field.
        offset: offset of the field.
        value: its new value.
    """
    data = bytearray(data)
    struct.pack_into(code, data, offset, value)
    return signed(bytes(data))


def _decoded(tables, at):
    words, ends, code, shift = [], [], 0, 0
    for i in range(at, len(tables)):
        code |= (tables[i] & 127) << shift
        shift += 7
        if tables[i] < 128:
            words.append(~(code >> 1) if code & 1 else code >> 1)
            ends.append(i + 1)
            code = shift = 0
    return words, ends


def _encoded(value, width):
    code = value << 1 if value >= 0 else ~value << 1 | 1
    results = []
    while code > 127 or len(results) < width - 1:
        results.append(code & 127 | 128)
        code >>= 7
    return bytes([*results, code])
