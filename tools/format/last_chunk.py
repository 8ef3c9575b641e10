"""A file with one chunk more or less: its tables are written again, the other chunks stay.

All places in a file count from the end of its tables, so that these may grow.
"""

from __future__ import annotations

import hashlib
import struct

from . import layout, reader
from .tables import DIGEST_NBYTES, Head


def added(data: bytes, kind: int, contents: bytes) -> bytes:
    """The file with a chunk behind its others, whose digest in the tables is zeros."""
    stored = reader.read(data)
    record = layout.number(kind) + layout.number(len(contents))
    digests, names, numbers = _tables(data, stored)
    at = _end_of_chunks(numbers, stored.chunks)
    numbers = numbers[:at] + record + numbers[at:]
    body = data[stored.tables_nbytes :]
    body += bytes(-len(body) % layout.CHUNK_ALIGNMENT) + contents
    return _file(data, [digests, bytes(DIGEST_NBYTES), names], numbers, body)


def removed(data: bytes) -> bytes:
    """The file without its last chunk."""
    stored = reader.read(data)
    digests, names, numbers = _tables(data, stored)
    *others, last = stored.chunks
    at, end = _end_of_chunks(numbers, others), _end_of_chunks(numbers, stored.chunks)
    numbers = numbers[:at] + numbers[end:]
    end = others[-1].end if others else stored.tables_nbytes
    body = data[stored.tables_nbytes : end]
    return _file(data, [digests[:-DIGEST_NBYTES], names], numbers, body)


def _tables(data, stored):
    """(digests, kernels' names, the numbers) as bytes."""
    head = Head.of(data)
    names_at, at = head.names_at, head.numbers_at
    numbers = data[at : stored.tables_nbytes - stored.padding_nbytes]
    return data[layout.HEADER_NBYTES : names_at], data[names_at:at], numbers


def _end_of_chunks(numbers, chunks):
    """The byte behind the numbers of these chunks, the first ones."""
    n = 2 + sum(2 if chunk.place is None else 3 for chunk in chunks)
    ends = (i + 1 for i, byte in enumerate(numbers) if byte < 128)
    return next(end for k, end in enumerate(ends, 1) if k == n)


def _file(data, before, numbers, body):
    """The file with other tables; before: their parts before the numbers."""
    head = list(struct.unpack_from("<8sHHI", data))
    *digests, names = before
    n_chunks = sum(map(len, digests)) // DIGEST_NBYTES
    tables = b"".join([*before, numbers])
    tables += bytes(-len(tables) % layout.CHUNK_ALIGNMENT)
    tables_nbytes = layout.HEADER_NBYTES + len(tables)
    first = struct.pack("<8sHHIII", *head, tables_nbytes + len(body), tables_nbytes)
    rest = struct.pack("<2I", n_chunks, len(names)) + tables
    return first + hashlib.sha256(first + rest).digest() + rest + body
