"""The numbers and small parts of model.bin: docs/format.md in code."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

import ml_dtypes
import numpy as np

MAGIC = b"MPCONNXR"
VERSION = 10
HEADER_NBYTES = 64
DIGEST_AT = 24  # SHA-256 of the tables without it
KIND_MODEL, KIND_TENSORS = 0, 1
CHUNK_DATA, CHUNK_NAMES, CHUNK_GOLDEN, CHUNK_SOURCE, CHUNK_NODES = 0, 1, 2, 3, 4
CHUNK_GRIDS, CHUNK_IMAGES, CHUNK_STREAMED, CHUNK_HALVES, CHUNK_SEAL = 5, 6, 7, 8, 9
CHUNK_LABELS = 10
STORAGE_ARENA, STORAGE_DATA, STORAGE_OBJECT, STORAGE_STATE = 0, 1, 2, 3
FLAG_PACKED, FLAG_OPEN = 1, 2
FEATURE_FLOAT64, FEATURE_RUNTIME_DIMS, FEATURE_OBJECTS, FEATURE_STATE = 1, 2, 4, 8
IMAGE = struct.Struct("<5B")  # head of a record of CHUNK_IMAGES; see image_records
IMAGE_SCALES = struct.Struct("<6f")  # behind that of a float32 input
IMAGE_TABLE_NBYTES = 256  # a table of an integer input
GRID = struct.Struct("<fi")  # a record of CHUNK_GRIDS: scale (0 for none) and zero_point

CHUNK_ALIGNMENT = 16
_MOST_SHIFT = 28  # of a number's last byte


def arena_bytes(model: bytes) -> int:
    """Bytes of arena that a model asks for where its weights are streamed; 0 for other bytes."""
    if len(model) < HEADER_NBYTES:
        return 0
    n_chunks, names_nbytes = struct.unpack_from("<2I", model, 56)
    found = numbers_of(model, HEADER_NBYTES + 32 * n_chunks + names_nbytes)
    return max(next(found, 0), next(found, 0))


def number(value: int) -> bytes:
    """A number as 1 to 5 bytes of 7 bits each, the lowest first; its sign is the lowest bit."""
    code = value << 1 if value >= 0 else (-1 - value) << 1 | 1
    found = bytearray()
    while code > 127:
        found.append(code & 127 | 128)
        code >>= 7
    found.append(code)
    return bytes(found)


def numbers(data: bytes) -> Iterator[int]:
    """What `number` wrote, one after another. Raises ValueError for what it did not write."""
    code = shift = 0
    for byte in data:
        if shift > _MOST_SHIFT:
            raise ValueError("a number of more than 5 bytes")
        code |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield -1 - (code >> 1) if code & 1 else code >> 1
            code = shift = 0


def numbers_of(model: bytes, at: int) -> Iterator[int]:
    """Those of a file's tables, which begin at a byte."""
    return numbers(model[at : struct.unpack_from("<I", model, 20)[0]])


def names_chunk(names: Iterable[str]) -> bytes:
    """Contents of a chunk of names: each ends with a zero byte."""
    return b"".join(n.replace("\0", "").encode() + b"\0" for n in names)


def packed(data: np.ndarray, bits: int) -> bytes:
    """Elements of one byte each, put together `bits` at a time from the low end of each byte."""
    per = 8 // bits
    codes = data.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    codes = np.append(codes, np.zeros(-len(codes) % per, np.uint8)).reshape(-1, per)
    return np.bitwise_or.reduce(codes << (np.arange(per, dtype=np.uint8) * bits), 1).tobytes()


def unpacked(raw: bytes, dtype: np.dtype, bits: int, nelem: int) -> np.ndarray:
    """What `packed` put together."""
    shifts = np.arange(8 // bits, dtype=np.uint8) * bits
    codes = (np.frombuffer(raw, np.uint8)[:, None] >> shifts) & ((1 << bits) - 1)
    return codes.reshape(-1)[:nelem].view(dtype)


def element_bytes(array: np.ndarray) -> bytes:
    """The elements in C order as a board holds them in its memory."""
    return bytes(element_view(array))


def element_view(array: np.ndarray) -> memoryview:
    """The same; the array's own bytes if they are so."""
    array = np.ascontiguousarray(array)
    if array.dtype in (ml_dtypes.int4, ml_dtypes.int2):
        array = array.astype(np.int8)  # the sign fills its byte, which numpy leaves open
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return memoryview(array.reshape(-1).view(np.uint8))


def image_records(chunk: bytes) -> Iterator[bytes]:
    """Yield the records of CHUNK_IMAGES."""
    at = 0
    while at < len(chunk):
        tables = chunk[at + IMAGE.size - 1]
        nbytes = IMAGE.size + (tables * IMAGE_TABLE_NBYTES or IMAGE_SCALES.size)
        yield chunk[at : at + nbytes]
        at += nbytes
