"""Dtypes of strings and maps, which a board keeps as Python objects outside of the arena."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np
import onnx

from mpconnxr.io.objects import (  # noqa: F401 (for whoever imports them from here)
    MAP,
    OPEN,
    SEQUENCE,
    STRING,
    STRING_KEYS,
    VALUES,
    Maps,
)

INT64 = 7


# The numbers of maps and sequences of maps, and those of all that a board keeps as an object.
MAPS = frozenset(
    MAP + sequence + keys + values
    for sequence in (0, SEQUENCE)
    for keys in (0, STRING_KEYS)
    for values in VALUES
)
OBJECTS = MAPS | {STRING}


def is_object(dtype: int) -> bool:
    """Return True for strings and maps."""
    return dtype in OBJECTS


def is_map(dtype: int) -> bool:
    """Return True for a map or a sequence of maps."""
    return dtype in MAPS


def map_name(dtype: int) -> str:
    """Return the name of a map's dtype, such as 'map(string,float32)'."""
    return Maps(dtype).dtype


def map_dtype(keys: int, values: int, sequence: bool = False) -> int | None:
    """Return the number of a map by its keys' and values' ONNX dtypes; None if unsupported."""
    if keys not in (STRING, INT64) or values not in VALUES:
        return None
    return MAP + SEQUENCE * sequence + STRING_KEYS * (keys == STRING) + values


def dtype_of(value_type: onnx.TypeProto) -> int | None:
    """Return the number of a map or a sequence of maps; None for other types."""
    sequence = value_type.HasField("sequence_type")
    inner = value_type.sequence_type.elem_type if sequence else value_type
    if not inner.HasField("map_type"):
        return None
    map_type = inner.map_type
    values = map_type.value_type.tensor_type.elem_type
    return map_dtype(map_type.key_type, values, sequence)


def string_bytes(data: np.ndarray) -> bytes:
    """Encode strings as in a file: for each a u32 with its size in bytes, then UTF-8."""
    encoded = [text_of(s).encode() for s in np.asarray(data).reshape(-1)]
    return b"".join(struct.pack("<I", len(s)) + s for s in encoded)


def text_of(value: str | bytes) -> str:
    """Return a string that onnx gives as str, or as bytes if it comes from an attribute."""
    return value.decode() if isinstance(value, bytes) else str(value)


def string_array(
    values: Iterable[str | bytes], shape: tuple[int, ...] | None = None
) -> np.ndarray:
    """Return an array of str objects."""
    texts = [text_of(v) for v in values]
    result = np.empty(len(texts), object)
    result[:] = texts
    return result if shape is None else result.reshape(shape)
