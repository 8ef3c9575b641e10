"""Strings and maps: values that a board keeps as Python objects, outside of the arena."""

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


def is_object(dtype: int) -> bool:
    """True for strings and maps."""
    return dtype == STRING or is_map(dtype)


def is_map(dtype: int) -> bool:
    """True for a map and a sequence of maps."""
    return MAP <= dtype < 2 * MAP and dtype & 15 in VALUES


def map_name(dtype: int) -> str:
    """'map(string,float32)', 'seq(map(int64,float32))'"""
    return Maps(dtype).dtype


def map_dtype(keys: int, values: int, sequence: bool = False) -> int | None:
    """The number of a map by the ONNX dtypes of its keys and values; None if it is not held."""
    if keys not in (STRING, INT64) or values not in VALUES:
        return None
    return MAP + SEQUENCE * sequence + STRING_KEYS * (keys == STRING) + values


def dtype_of(value_type: onnx.TypeProto) -> int | None:
    """The number of a map or a sequence of maps; None for other types."""
    sequence = value_type.HasField("sequence_type")
    inner = value_type.sequence_type.elem_type if sequence else value_type
    if not inner.HasField("map_type"):
        return None
    found = inner.map_type
    values = found.value_type.tensor_type.elem_type
    return map_dtype(found.key_type, values, sequence)


def string_bytes(data: np.ndarray) -> bytes:
    """Strings as they lie in a file: a u32 with the number of bytes, then UTF-8, each."""
    encoded = [text_of(s).encode() for s in np.asarray(data).reshape(-1)]
    return b"".join(struct.pack("<I", len(s)) + s for s in encoded)


def text_of(value: str | bytes) -> str:
    """A string as onnx gives it: str, or bytes where it comes from an attribute."""
    return value.decode() if isinstance(value, bytes) else str(value)


def string_array(
    values: Iterable[str | bytes], shape: tuple[int, ...] | None = None
) -> np.ndarray:
    """An array of str objects."""
    texts = [text_of(v) for v in values]
    found = np.empty(len(texts), object)
    found[:] = texts
    return found if shape is None else found.reshape(shape)
