"""Numbers and small parts of model.bin: docs/format.md in code."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Sequence

import ml_dtypes
import numpy as np

from mpconnxr.build.reader import (  # noqa: F401 (for whoever imports them from here)
    CHUNK_DATA,
    CHUNK_GOLDEN,
    CHUNK_GRIDS,
    CHUNK_HALVES,
    CHUNK_IMAGES,
    CHUNK_LABELS,
    CHUNK_NAMES,
    CHUNK_NODES,
    CHUNK_SOURCE,
    CHUNK_STREAMED,
    DIGEST_AT,
    FEATURE_FLOAT64,
    FEATURE_OBJECTS,
    FEATURE_RUNTIME_DIMS,
    FEATURE_STATE,
    HEADER,
    HEADER_NBYTES,
    KIND_MODEL,
    KIND_TENSORS,
    MAGIC,
    STREAMED,
    VERSION,
)
from mpconnxr.build.records import (  # noqa: F401 (the same)
    FLAG_OPEN,
    FLAG_PACKED,
    STORAGE_ARENA,
    STORAGE_DATA,
    STORAGE_OBJECT,
    STORAGE_STATE,
)

CHUNK_SEAL = 9  # mpconnxr.build.seal finds it at the end of the file
DIGEST_NBYTES = 32
IMAGE = struct.Struct("<5B")  # head of a record of CHUNK_IMAGES; see image_records
IMAGE_SCALES = struct.Struct("<6f")  # follows the head for a float32 input
IMAGE_TABLE_NBYTES = 256  # each table of an integer input
GRID = struct.Struct("<fi")  # a record of CHUNK_GRIDS: scale (0 for none) and zero_point

CHUNK_ALIGNMENT = 16


def number(value: int) -> bytes:
    """Encode a number as 1 to 5 bytes of 7 bits, the lowest first; its lowest bit is the sign."""
    code = value << 1 if value >= 0 else (-1 - value) << 1 | 1
    encoded = bytearray()
    while code > 127:
        encoded.append(code & 127 | 128)
        code >>= 7
    encoded.append(code)
    return bytes(encoded)


def file_bytes(
    kind: int,
    features: int,
    digests: Sequence[bytes],
    kernels: bytes,
    numbers: bytes,
    chunks: Sequence[bytes],
) -> bytes:
    """Return a file: a header, tables of these parts, and the chunks.

    Args:
        kind: KIND_MODEL or KIND_TENSORS.
        features: bits FEATURE_...
        digests: digest of each chunk.
        kernels: a chunk with the kernels' names.
        numbers: encoded numbers of the tables.
        chunks: bytes behind the tables.
    """
    tables = b"".join([*digests, kernels, numbers])
    tables += bytes(-len(tables) % CHUNK_ALIGNMENT)
    tables_nbytes = HEADER_NBYTES + len(tables)
    lengths = tables_nbytes + sum(map(len, chunks)), tables_nbytes, len(digests), len(kernels)
    header = struct.pack(HEADER, MAGIC, VERSION, kind, features, *lengths)
    return b"".join([signed(header + tables), *chunks])


def signed(tables: bytes) -> bytes:
    """Return a file's header and tables with their digest filled in."""
    before, behind = tables[:DIGEST_AT], tables[DIGEST_AT + DIGEST_NBYTES :]
    return before + hashlib.sha256(before + behind).digest() + behind


def names_chunk(names: Iterable[str]) -> bytes:
    """Return the contents of a chunk of names: each ends with a zero byte."""
    return b"".join(n.replace("\0", "").encode() + b"\0" for n in names)


def packed(data: np.ndarray, bits: int) -> bytes:
    """Pack elements of one byte into `bits` bits each, from the low end of each byte."""
    per = 8 // bits
    codes = data.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    codes = np.append(codes, np.zeros(-len(codes) % per, np.uint8)).reshape(-1, per)
    return np.bitwise_or.reduce(codes << (np.arange(per, dtype=np.uint8) * bits), 1).tobytes()


def unpacked(raw: bytes, dtype: np.dtype, bits: int, nelem: int) -> np.ndarray:
    """Unpack elements; the inverse of `packed`.

    Args:
        raw: packed bytes.
        dtype: dtype of the result, one byte.
        bits: bits of a packed element.
        nelem: number of elements.
    """
    shifts = np.arange(8 // bits, dtype=np.uint8) * bits
    codes = (np.frombuffer(raw, np.uint8)[:, None] >> shifts) & ((1 << bits) - 1)
    return codes.reshape(-1)[:nelem].view(dtype)


def element_bytes(array: np.ndarray) -> bytes:
    """Return the elements in C order, as a board holds them in memory."""
    return bytes(element_view(array))


def element_view(array: np.ndarray) -> memoryview:
    """Return a view of the elements in C order as a board holds them; a copy only if need be."""
    array = np.ascontiguousarray(array)
    if array.dtype in (ml_dtypes.int4, ml_dtypes.int2):
        array = array.astype(np.int8)  # the sign fills its byte, which numpy leaves open
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return memoryview(array.reshape(-1).view(np.uint8))


def image_records(chunk: bytes) -> Iterator[bytes]:
    """Yield the records of a CHUNK_IMAGES."""
    at = 0
    while at < len(chunk):
        tables = chunk[at + IMAGE.size - 1]
        nbytes = IMAGE.size + (tables * IMAGE_TABLE_NBYTES or IMAGE_SCALES.size)
        yield chunk[at : at + nbytes]
        at += nbytes
