"""Append a chunk to a file, or remove the last one; only the file's tables are rewritten.

All offsets in a file count from the end of its tables, so the tables may grow.
"""

from __future__ import annotations

from mpconnxr.build.numbers import Numbers

from . import layout
from .reader import parse


def added(data: bytes, kind: int, contents: bytes) -> bytes:
    """Return the file with one more chunk at its end, whose digest in the tables is zeros."""
    file = parse(data)
    record = layout.number(kind) + layout.number(len(contents))
    at = _end_of_chunks(data, file, len(file.chunks))
    numbers = data[file.numbers_at : at] + record + data[at : file.numbers_end]
    padding = bytes(-len(data) % layout.CHUNK_ALIGNMENT)
    chunks = [data[file.tables_nbytes :], padding, contents]
    digests = [*_digests(data, file), bytes(layout.DIGEST_NBYTES)]
    return _file(file, digests, numbers, chunks)


def removed(data: bytes) -> bytes:
    """Return the file without its last chunk."""
    file = parse(data)
    n = len(file.chunks)
    at, end = _end_of_chunks(data, file, n - 1), _end_of_chunks(data, file, n)
    numbers = data[file.numbers_at : at] + data[end : file.numbers_end]
    *others, _ = file.chunks
    end = others[-1].offset + others[-1].nbytes if others else file.tables_nbytes
    chunks = [data[file.tables_nbytes : end]]
    return _file(file, _digests(data, file)[:-1], numbers, chunks)


def _end_of_chunks(data, file, n):
    """Return the offset behind the numbers that describe the first n chunks."""
    numbers = Numbers(data, file.numbers_at, file.numbers_end)
    numbers.skip(2 + sum(2 if c.place is None else 3 for c in file.chunks[:n]))
    return numbers.at


def _digests(data, file):
    """Return the stored digest of each chunk."""
    return [c.digest(data) for c in file.chunks]


def _file(file, digests, numbers, chunks):
    """Assemble a file: new tables in front of the chunks.

    Args:
        file: the parsed original, for its kind, features and kernels.
        digests: the digest of each chunk.
        numbers: the encoded numbers of the tables.
        chunks: the bytes of all chunks, in pieces that are joined.
    """
    kernels = layout.names_chunk(file.kernels)
    return layout.file_bytes(file.kind, file.features, digests, kernels, numbers, chunks)
